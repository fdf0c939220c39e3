import { ArrowLeft, ChevronLeft, ChevronRight, CircleCheck, RotateCcw } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Invoice } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import users from '../accounts/users.module.css';
import { paramsAt } from '../routes.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { Kbd, KeyHint } from '../ui/kbd.tsx';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { filterOf, type InvoiceFilter, invoicePath, listPath } from './filter.ts';
import { InvoiceDocuments } from './invoice-documents.tsx';
import { InvoiceFigures } from './invoice-figures.tsx';
import { nameOf } from './invoice-words.ts';
import { markInvoice, nextState } from './mark-invoice.ts';
import { useInvoice } from './queries.ts';
import { texts } from './texts.ts';
import { useNeighbours } from './use-neighbours.ts';

/** An invoice: what was read from it, beside its document. The address has the list that it leads on in (`?state=`, `?search=`). */
export function InvoicePage() {
  const t = texts.value;
  const { path, query: params } = useLocation();
  const { id = '' } = paramsAt(path);
  const filter = filterOf(params);
  const query = useInvoice(id);
  return (
    <Page
      title={query.data ? nameOf(query.data) : pageNames.value.invoices}
      actions={
        <>
          <LinkButton href={listPath(filter)} icon={ArrowLeft}>
            {t.back}
          </LinkButton>
          <Neighbours id={id} filter={filter} />
          {query.data && <Mark key={id} invoice={query.data} />}
        </>
      }
    >
      <QueryView query={query}>
        {(invoice) => (
          <>
            <Remarks invoice={invoice} />
            <div class={profile.cards}>
              <InvoiceFigures invoice={invoice} />
              <InvoiceDocuments key={invoice.id} invoice={invoice} />
            </div>
          </>
        )}
      </QueryView>
    </Page>
  );
}

function Mark({ invoice }: { invoice: Invoice }) {
  const [isBusy, setBusy] = useState(false);
  const state = nextState(invoice);
  const mark = async () => {
    setBusy(true);
    await markInvoice(invoice, state);
    setBusy(false);
  };
  return (
    <Button
      kind={state === 'processed' ? 'primary' : 'secondary'}
      icon={state === 'processed' ? CircleCheck : RotateCcw}
      busy={isBusy}
      onClick={() => void mark()}
    >
      {texts.value.mark[state]}
    </Button>
  );
}

function Neighbours({ id, filter }: { id: string; filter: InvoiceFilter }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const { place, count, previous, next } = useNeighbours(id, filter, (to) => go(invoicePath(to, filter)));
  if (place === null) return null;
  const step = (to: string | null, label: string, key: string) => (
    // At either end, the button keeps the focus.
    <IconButton
      icon={key === 'ArrowLeft' ? ChevronLeft : ChevronRight}
      kind="secondary"
      label={label}
      aria-keyshortcuts={key}
      aria-disabled={to === null}
      onClick={() => to !== null && go(invoicePath(to, filter))}
    />
  );
  return (
    <div class={users.buttons} role="group" aria-label={t.neighbours}>
      {step(previous, t.previous, 'ArrowLeft')}
      {step(next, t.next, 'ArrowRight')}
      <span class={profile.note}>
        {t.position(place, count)}{' '}
        <KeyHint>
          <Kbd>←</Kbd> <Kbd>→</Kbd>
        </KeyHint>
      </span>
    </div>
  );
}

/** What a person has to know before they act on the invoice. */
function Remarks({ invoice: { error, duplicateOf, id } }: { invoice: Invoice }) {
  const t = texts.value;
  return (
    <>
      {error && (
        <div>
          <Status kind="error">
            <strong>{t.errors[error]}</strong>
          </Status>
          <p>{t.errorAdvice[error]}</p>
        </div>
      )}
      {duplicateOf && duplicateOf !== id && (
        <div>
          <Status kind="warning">
            <strong>{t.duplicateTitle}</strong>
          </Status>
          <p>
            {t.duplicateText} <a href={invoicePath(duplicateOf, { view: 'all', search: '' })}>{t.original}</a>
          </p>
        </div>
      )}
    </>
  );
}
