import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { queryClient } from './portal.ts';
import { me } from './session.ts';

interface Polled<Data> {
  queryKey: readonly unknown[];
  queryFn: (call: { signal: AbortSignal }) => Promise<Data>;
  intervalMs: number;
  /** False until the first answer is wanted. */
  enabled?: boolean;
}

const answers = new BroadcastChannel('portal.answers');

interface Answer {
  accountId: string | undefined;
  queryKey: readonly unknown[];
  answer: unknown;
}

answers.addEventListener('message', ({ data: { accountId, queryKey, answer } }: MessageEvent<Answer>) => {
  if (accountId !== me.value?.id) return;
  // A tab takes only what it shows.
  if (queryClient.getQueryState(queryKey)) queryClient.setQueryData(queryKey, answer);
});

/** `useQuery` that repeats: of all visible tabs that show the query, one polls and passes its answers on. A hidden tab does not poll. */
export function usePolled<Data>({ queryKey, queryFn, intervalMs, enabled = true }: Polled<Data>) {
  const isPolling = usePollLock(JSON.stringify(queryKey));
  return useQuery({
    enabled,
    queryKey,
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const answer = await queryFn({ signal });
      const shared: Answer = { accountId: me.value?.id, queryKey, answer };
      // This tab draws it first: a long answer takes long to copy.
      requestAnimationFrame(() => setTimeout(() => answers.postMessage(shared)));
      return answer;
    },
    refetchInterval: isPolling && intervalMs,
    refetchIntervalInBackground: false,
    staleTime: intervalMs,
  });
}

/** True in the one visible tab that holds the lock of this name. */
function usePollLock(name: string): boolean {
  const isVisible = useIsVisible();
  const [holds, setHolds] = useState(false);
  useEffect(() => {
    if (!isVisible) return undefined;
    const leave = new AbortController();
    const left = new Promise<void>((resolve) => leave.signal.addEventListener('abort', () => resolve()));
    navigator.locks
      .request(`portal.poll ${name}`, { signal: leave.signal }, () => {
        setHolds(true);
        return left;
      })
      // Aborted while waiting for the lock
      .catch(() => undefined);
    return () => {
      setHolds(false);
      leave.abort();
    };
  }, [name, isVisible]);
  return holds;
}

/** True while the person can see this tab. */
export function useIsVisible(): boolean {
  const [isVisible, setIsVisible] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const update = () => setIsVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return isVisible;
}
