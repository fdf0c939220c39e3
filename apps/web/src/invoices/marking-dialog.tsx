import { useEffect, useRef, useState } from 'preact/hooks';
import type { Invoice } from '@portal/client/interface';
import { type Outcome, runEach } from '../accounts/users-run.ts';
import users from '../accounts/users.module.css';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { Progress } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { nameOf } from './invoice-words.ts';
import { changedOf, showMarked } from './mark-invoice.ts';
import { keepInvoices, setState, type SettableState } from './queries.ts';
import { texts } from './texts.ts';

interface MarkingDialogProps {
  invoices: readonly Invoice[];
  state: SettableState;
  /** Gets the ids of the invoices that were marked. */
  onClose: (done: ReadonlySet<string>) => void;
}

/** Quicker work shows no dialog. */
const quickMs = 300;

/**
 * Marks several invoices at once and says which ones stayed as they were. It asks nothing before, because the message at the end can take
 * all of it back.
 */
export function MarkingDialog({ invoices, state, onClose }: MarkingDialogProps) {
  const t = texts.value;
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome<Invoice>>>(new Map());
  const [isRunning, setRunning] = useState(true);
  const [isShown, show] = useState(false);
  const stopping = useRef(new AbortController());
  const all = useRef(new Map<string, Outcome<Invoice>>());
  const body = useRef<HTMLDivElement>(null);

  const close = () => {
    const done = changedOf(all.current.values());
    keepInvoices(done, { drops: true });
    const ids = new Set(done.map(({ id }) => id));
    if (done.length > 0)
      showMarked(
        invoices.filter(({ id }) => ids.has(id)),
        state,
      );
    onClose(ids);
  };
  const start = async (wanted: readonly Invoice[]) => {
    stopping.current = new AbortController();
    setRunning(true);
    await runEach(wanted, {
      work: ({ id }) => setState(id, state),
      signal: stopping.current.signal,
      onOutcome: ({ id }, outcome) => {
        all.current.set(id, outcome);
        setOutcomes(new Map(all.current));
      },
    });
    setRunning(false);
    if (changedOf(all.current.values()).length === invoices.length) close();
    else show(true);
  };
  useEffect(() => {
    void start(invoices);
    const timer = setTimeout(() => show(true), quickMs);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (isShown) body.current?.focus();
  }, [isShown]);

  const failed = invoices.filter(({ id }) => 'error' in (outcomes.get(id) ?? {}));
  const waiting = invoices.filter(({ id }) => !outcomes.has(id));
  const stop = () => stopping.current.abort();
  if (!isShown) return null;
  return (
    <Dialog
      title={t.mark[state]}
      size="small"
      onClose={isRunning ? stop : close}
      actions={
        isRunning ? (
          <Button onClick={stop}>{t.stop}</Button>
        ) : (
          <>
            <Button kind="primary" onClick={close}>
              {t.close}
            </Button>
            <Button onClick={() => void start([...failed, ...waiting])}>{t.again}</Button>
          </>
        )
      }
    >
      <div ref={body} class={users.stack} tabIndex={-1} role="status">
        {isRunning ? (
          <Progress label={t.marking[state]} value={outcomes.size} max={invoices.length} />
        ) : (
          <>
            {failed.length > 0 && <Status kind="error">{t.failedMany(failed.length)}</Status>}
            <ul>
              {failed.map((invoice) => (
                <li key={invoice.id}>
                  <bdi>{nameOf(invoice)}</bdi>: <Reason outcome={outcomes.get(invoice.id)} />
                </li>
              ))}
            </ul>
            {waiting.length > 0 && <Status kind="unknown">{t.notBegun(waiting.length)}</Status>}
          </>
        )}
      </div>
    </Dialog>
  );
}

function Reason({ outcome }: { outcome: Outcome<Invoice> | undefined }) {
  const { text } = useErrorText(outcome && 'error' in outcome ? outcome.error : null);
  return <>{text}</>;
}
