import { useQuery } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import type { Run } from '@portal/client/interface';
import { formatNumber } from '../language.ts';
import { portal } from '../portal.ts';
import { Progress, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { isOver, runErrorText } from './run-outcome.ts';
import { texts } from './run-texts.ts';

interface RunProgressProps {
  runId: string;
  /** The run has ended, well or not. Called once. */
  onEnd?: ((run: Run) => void) | undefined;
}

const intervalMs = 1_000;

/** Follows started work until its end, while the person can see it, and tells how it went. */
export function RunProgress({ runId, onEnd }: RunProgressProps) {
  const run = useQuery({
    queryKey: ['runs', runId],
    queryFn: ({ signal }) => portal.get('/runs/{id}', { params: { path: { id: runId } }, signal }),
    // A failed query repeats once the service is back.
    refetchInterval: ({ state: { data, error } }) => (error || (data && isOver(data)) ? false : intervalMs),
    refetchIntervalInBackground: false,
    staleTime: 0,
  });
  const ended = run.data && isOver(run.data) ? run.data : null;
  useEffect(() => {
    if (ended) onEnd?.(ended);
  }, [ended?.id]);
  return (
    <QueryView query={run}>
      {(data) => (
        <div>
          {!isOver(data) && <RunBar run={data} />}
          <div role="status">{isOver(data) && <Outcome run={data} />}</div>
        </div>
      )}
    </QueryView>
  );
}

function RunBar({ run: { state, progress } }: { run: Run }) {
  const t = texts.value;
  if (state === 'queued') return <Progress label={t.queued} />;
  if (!progress || progress.total === 0) return <Progress label={t.running} />;
  const { done, total } = progress;
  return <Progress label={t.progress(formatNumber(done), formatNumber(total))} value={done} max={total} />;
}

function Outcome({ run }: { run: Run }) {
  const t = texts.value;
  const at = run.finishedAt && <Time value={run.finishedAt} style="time" />;
  if (run.state === 'succeeded')
    return (
      <Status kind="ok">
        {t.succeeded} {at}
      </Status>
    );
  return (
    <Status kind="error">
      {t.failed} {at}
      {run.error && <> · {runErrorText(run.error)}</>}
    </Status>
  );
}
