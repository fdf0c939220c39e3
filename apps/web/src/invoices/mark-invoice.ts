import type { Invoice } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { showToast } from '../ui/toast.tsx';
import { nameOf } from './invoice-words.ts';
import { keepInvoices, refreshLists, setState, type SettableState } from './queries.ts';
import { texts } from './texts.ts';

/** The state that a person can give an invoice next. */
export const nextState = ({ state }: Invoice): SettableState => (state === 'processed' ? 'new' : 'processed');

/** Marks one invoice; the message can take it back. A duplicate or an unreadable one becomes new then: the service keeps no more. */
export async function markInvoice(invoice: Invoice, state: SettableState): Promise<void> {
  const t = texts.value;
  try {
    keepInvoices([await setState(invoice.id, state)], { drops: false });
    const back = state === 'processed' ? 'new' : 'processed';
    showToast(t.marked[state](nameOf(invoice)), {
      kind: 'success',
      undo: () => void markInvoice(invoice, back).then(refreshLists),
    });
  } catch (error) {
    const isGone = error instanceof PortalError && error.status === 404;
    showToast(isGone ? t.markGone : t.markFailed, { kind: 'error' });
  }
}
