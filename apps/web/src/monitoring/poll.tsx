import { RefreshCw, X } from 'lucide';
import { useMutation } from '../mutation.ts';
import { RunProgress } from '../operations/run-progress.tsx';
import { portal } from '../portal.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Card } from '../ui/page.tsx';
import { FailedState } from '../ui/states.tsx';
import { refreshServers } from './servers.ts';
import { texts } from './texts.ts';

/** A check of all servers, started by hand: the run while it goes on and after it, or why it did not start. */
export const usePoll = () =>
  useMutation({
    mutationFn: async () => {
      const started = await portal.post('/virtualization/poll');
      // Only a call that waits is answered with the list.
      return 'runId' in started ? started.runId : null;
    },
  });

type Poll = ReturnType<typeof usePoll>;

export const PollButton = ({ poll }: { poll: Poll }) => (
  <Button icon={RefreshCw} busy={poll.isPending} onClick={() => poll.mutate()}>
    {texts.value.poll}
  </Button>
);

export function PollCard({ poll: { data: runId, error, mutate, reset } }: { poll: Poll }) {
  const t = texts.value;
  if (!runId && !error) return null;
  return (
    <Card title={t.pollTitle} actions={<IconButton icon={X} label={t.hide} onClick={reset} />}>
      {runId && <RunProgress runId={runId} onEnd={() => void refreshServers()} />}
      {error && <FailedState error={error} onRetry={() => mutate()} />}
    </Card>
  );
}
