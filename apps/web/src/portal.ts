import { signal } from '@preact/signals';
import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/preact-query';
import { openPortal } from '@portal/client/client';
import { PortalError } from '@portal/client/portal-error';
import { loseSession, me } from './session.ts';

/** The one client of all pages. */
export const portal = openPortal();

/** True while the service does not answer. */
export const isAway = signal(false);

// An answer is drawn at once, not after a timer.
notifyManager.setScheduler(queueMicrotask);

/** Codes that another attempt may turn into an answer. */
const isTemporary = (error: unknown): error is PortalError =>
  error instanceof PortalError && (error.status === 0 || error.status === 429 || error.status >= 500);

const maxRetries = 2;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteError, onSuccess: noteSuccess }),
  mutationCache: new MutationCache({ onError: noteError, onSuccess: noteSuccess }),
  defaultOptions: {
    queries: {
      // The browser's idea of being online concerns the internet, and the service may be on this machine.
      networkMode: 'always',
      staleTime: 30_000,
      // The service says when to come back; otherwise the pauses double.
      retry: (failures, error) => isTemporary(error) && failures < maxRetries,
      retryDelay: (failures, error) =>
        (error instanceof PortalError && error.retryAfterSec !== null ? error.retryAfterSec : 2 ** failures) * 1_000,
    },
    // A person decides whether to send a change again.
    mutations: { networkMode: 'always', retry: false },
  },
});

function noteSuccess(): void {
  isAway.value = false;
}

function noteError(error: unknown): void {
  if (!(error instanceof PortalError)) return;
  isAway.value = error.status === 0;
  if (error.code === 'UNAUTHENTICATED') loseSession();
  if (error.code === 'PASSWORD_CHANGE_REQUIRED' && me.value) me.value = { ...me.value, mustChangePassword: true };
}

/** Makes a change that outlives the component that started it, with what every mutation gets, such as the sign-in dialog. */
export const send = <Result>(call: () => Promise<Result>): Promise<Result> =>
  queryClient.getMutationCache().build(queryClient, { mutationFn: call, gcTime: 0 }).execute(undefined);

// A service that was away is asked every few seconds until it answers; then the failed queries repeat.
const probeMs = 3_000;
isAway.subscribe((away) => {
  if (away) void probe();
});

async function probe(): Promise<void> {
  while (isAway.value) {
    await new Promise((resolve) => setTimeout(resolve, probeMs));
    if (document.visibilityState === 'hidden') continue;
    await portal.get('/health').then(
      () => {
        isAway.value = false;
        return queryClient.invalidateQueries({
          predicate: ({ state }) => state.status === 'error' || state.isInvalidated,
        });
      },
      () => undefined,
    );
  }
}
