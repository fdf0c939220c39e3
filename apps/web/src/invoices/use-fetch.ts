import { useState } from 'preact/hooks';
import type { Run } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { refreshInvoices } from './queries.ts';

export interface Fetch {
  start: () => void;
  isStarting: boolean;
  isRunning: boolean;
  /** The run that is followed; null before the first one. */
  runId: string | null;
  /** How the run ended; null until then. */
  ended: Run | null;
  onEnd: (run: Run) => void;
  /** Why it was not started. */
  error: unknown;
  isNotSetUp: boolean;
}

/** Starts a fetch by hand and follows it. */
export function useFetch(): Fetch {
  const [runId, follow] = useState<string | null>(null);
  const [ended, setEnded] = useState<Run | null>(null);
  const start = useMutation({
    mutationFn: () => portal.post('/invoices/fetch'),
    onSuccess: (started) => {
      setEnded(null);
      follow('runId' in started ? started.runId : started.id);
    },
  });
  const { error } = start;
  return {
    start: () => start.mutate(),
    isStarting: start.isPending,
    isRunning: runId !== null && ended === null,
    runId,
    ended,
    onEnd: (run) => {
      setEnded(run);
      void refreshInvoices();
    },
    error,
    isNotSetUp: error instanceof PortalError && error.code === 'MAILBOX_NOT_CONFIGURED',
  };
}
