import type { Invoice } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { type Outcome, runEach } from '../accounts/users-run.ts';
import { showToast } from '../ui/toast.tsx';
import { nameOf } from './invoice-words.ts';
import { keepInvoices, refreshInvoices, setState, type SettableState } from './queries.ts';
import { texts } from './texts.ts';

/** The state that a person can give an invoice next. */
export const nextState = ({ state }: Invoice): SettableState => (state === 'processed' ? 'new' : 'processed');

/** Marks one invoice; the message can take it back. */
export async function markInvoice(invoice: Invoice, state: SettableState): Promise<void> {
  const t = texts.value;
  try {
    keepInvoices([await setState(invoice.id, state)], { drops: false });
    showMarked([invoice], state);
  } catch (error) {
    const isGone = error instanceof PortalError && error.status === 404;
    showToast(isGone ? t.markGone : t.markFailed, { kind: 'error' });
  }
}

/** Tells that invoices were marked, which are given as they were before: the message can give each its former state back. */
export function showMarked(before: readonly Invoice[], state: SettableState): void {
  const t = texts.value;
  const [first] = before;
  const text = first && before.length === 1 ? t.marked[state](nameOf(first)) : t.markedMany[state](before.length);
  showToast(text, { kind: 'success', undo: () => void takeBack(before) });
}

async function takeBack(before: readonly Invoice[]): Promise<void> {
  const outcomes: Outcome<Invoice>[] = [];
  await runEach(before, {
    work: ({ id, state }) => setState(id, state),
    signal: new AbortController().signal,
    onOutcome: (_invoice, outcome) => outcomes.push(outcome),
  });
  keepInvoices(changedOf(outcomes), { drops: false });
  await refreshInvoices();
  const t = texts.value;
  if (changedOf(outcomes).length < before.length) showToast(t.markFailed, { kind: 'error' });
  else showToast(t.takenBack, { kind: 'success' });
}

/** The invoices that were changed. */
export const changedOf = (outcomes: Iterable<Outcome<Invoice>>): Invoice[] =>
  [...outcomes].flatMap((outcome) => ('result' in outcome ? [outcome.result] : []));
