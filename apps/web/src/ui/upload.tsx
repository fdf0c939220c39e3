import { RotateCw } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import users from '../accounts/users.module.css';
import { catalogue } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { Button } from './button.tsx';
import { useErrorText } from './error-text.ts';
import { ErrorTrace, Progress } from './states.tsx';
import { Status } from './status.tsx';
import { texts as uiTexts } from './texts.ts';

const texts = catalogue({
  de: { sending: 'Wird hochgeladen und geprüft …', stop: 'Anhalten', stopped: 'Angehalten. Es wurde nichts geprüft.' },
  en: { sending: 'Uploading and checking…', stop: 'Stop', stopped: 'Stopped. Nothing was checked.' },
});

export interface Upload<Input, Output> {
  /** The last answer. It stays while another call is under way. */
  data: Output | null;
  isSending: boolean;
  isStopped: boolean;
  error: unknown;
  /** Ends a call that is under way, and begins this one. */
  send: (input: Input) => Promise<Output | null>;
  stop: () => void;
  /** Forgets everything. */
  reset: () => void;
}

/** A call that sends files and can be stopped. What it sent and got is forgotten when the page is left. */
export function useUpload<Input, Output>(
  call: (input: Input, signal: AbortSignal) => Promise<Output>,
): Upload<Input, Output> {
  const control = useRef<AbortController | null>(null);
  const [data, setData] = useState<Output | null>(null);
  const [isStopped, setStopped] = useState(false);
  useEffect(() => () => control.current?.abort(), []);
  const mutation = useMutation({
    // Otherwise the list of all mutations would keep it for minutes.
    gcTime: 0,
    mutationFn: ({ input, signal }: { input: Input; signal: AbortSignal }) => call(input, signal),
  });
  const abort = () => {
    control.current?.abort();
    control.current = null;
  };
  return {
    data,
    isSending: mutation.isPending && control.current !== null,
    isStopped,
    error: isAbort(mutation.error) ? null : mutation.error,
    async send(input) {
      abort();
      const own = new AbortController();
      control.current = own;
      setStopped(false);
      try {
        const answer = await mutation.mutateAsync({ input, signal: own.signal });
        if (control.current !== own) return null;
        setData(answer);
        return answer;
      } catch {
        // `error` tells why.
        return null;
      }
    },
    stop() {
      abort();
      setStopped(true);
    },
    reset() {
      abort();
      mutation.reset();
      setStopped(false);
      setData(null);
    },
  };
}

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

interface UploadStateProps {
  upload: Pick<Upload<never, unknown>, 'isSending' | 'isStopped' | 'error' | 'stop'>;
  /** Sends the same files again. */
  onRetry: () => void;
}

/** What becomes of an upload: that it is under way, that it was stopped, or why it was refused. */
export function UploadState({ upload: { isSending, isStopped, error, stop }, onRetry }: UploadStateProps) {
  const t = texts.value;
  const retry = (
    <Button size="small" icon={RotateCw} onClick={onRetry}>
      {uiTexts.value.retry}
    </Button>
  );
  return (
    <div role="status">
      {isSending ? (
        <div class={users.stack}>
          <Progress label={t.sending} />
          <div>
            <Button onClick={stop}>{t.stop}</Button>
          </div>
        </div>
      ) : isStopped ? (
        <div class={users.buttons}>
          <Status kind="unknown">{t.stopped}</Status>
          {retry}
        </div>
      ) : error ? (
        <div class={users.stack}>
          <Refused error={error} />
          <div>{retry}</div>
        </div>
      ) : null}
    </div>
  );
}

/** Why a call was refused. */
export function Refused({ error }: { error: unknown }) {
  const { text } = useErrorText(error);
  return (
    <div>
      <Status kind="error">{text}</Status>
      <ErrorTrace error={error} />
    </div>
  );
}
