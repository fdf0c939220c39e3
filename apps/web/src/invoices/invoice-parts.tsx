import type { Invoice } from '@portal/client/interface';
import { Status, type StatusKind } from '../ui/status.tsx';
import type { InvoiceState } from './filter.ts';
import { dueOf, formatAmount, formatInvoiceDay } from './invoice-words.ts';
import s from './invoices.module.css';
import { texts } from './texts.ts';

const kinds: Record<InvoiceState, StatusKind> = { new: 'info', processed: 'ok', duplicate: 'warning', failed: 'error' };

/** The state in a word; of an unreadable document also why. */
export function StateOf({ invoice: { state, error } }: { invoice: Invoice }) {
  const t = texts.value;
  return (
    <>
      <Status kind={kinds[state]}>{t.states[state]}</Status>
      {error && <div>{t.errors[error]}</div>}
    </>
  );
}

/** A day of a document. */
export const InvoiceDay = ({ day }: { day: string }) => (
  <time dateTime={day} class={s.amount}>
    {formatInvoiceDay(day)}
  </time>
);

/** When an invoice has to be paid, and how urgent that is. */
export function DueDay({ invoice }: { invoice: Invoice }) {
  const due = dueOf(invoice);
  if (invoice.dueDate === null) return <>{texts.value.unknown}</>;
  return (
    <>
      <InvoiceDay day={invoice.dueDate} />
      {due && (
        <div>
          {due.kind === 'later' ? (
            due.text
          ) : (
            <Status kind={due.kind === 'overdue' ? 'error' : 'warning'}>{due.text}</Status>
          )}
        </div>
      )}
    </>
  );
}

export const Amount = ({ cents, currency }: { cents: number | null; currency: string | null }) => (
  <span class={s.amount}>{formatAmount(cents, currency) ?? texts.value.unknown}</span>
);
