import { CircleCheck, RotateCcw, X } from 'lucide';
import { useMemo, useState } from 'preact/hooks';
import type { Invoice } from '@portal/client/interface';
import users from '../accounts/users.module.css';
import { language } from '../language.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { EmptyState } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type InvoiceFilter, invoicePath, listPath } from './filter.ts';
import { Amount, DueDay, InvoiceDay, StateOf } from './invoice-parts.tsx';
import { kindOf, nameOf } from './invoice-words.ts';
import { MarkingDialog } from './marking-dialog.tsx';
import type { SettableState } from './queries.ts';
import { texts } from './texts.ts';

interface InvoiceListProps {
  filter: InvoiceFilter;
  invoices: readonly Invoice[];
  paging: { hasMore: boolean; isLoading: boolean; onMore: () => void };
}

interface Marking {
  invoices: readonly Invoice[];
  state: SettableState;
}

const none: ReadonlySet<string> = new Set();

/** The invoices of a list, of which several can be marked at once. */
export function InvoiceList({ filter, invoices, paging }: InvoiceListProps) {
  const t = texts.value;
  const [selected, select] = useState(none);
  const [marking, setMarking] = useState<Marking | null>(null);
  const chosen = invoices.filter(({ id }) => selected.has(id));
  const columns = useMemo(() => columnsOf(filter), [language.value, filter.view, filter.search]);
  const begin = (state: SettableState) => setMarking({ state, invoices: chosen.filter((one) => one.state !== state) });
  const isEmpty = invoices.length === 0 && !paging.hasMore;
  return (
    <>
      {isEmpty ? (
        <NoInvoices filter={filter} />
      ) : (
        <div>
          <div class={users.bar}>
            <span role="status">
              {chosen.length > 0
                ? t.selected(chosen.length)
                : paging.hasMore
                  ? t.countOfMany(invoices.length)
                  : t.count(invoices.length)}
            </span>
            {chosen.some(({ state }) => state !== 'processed') && (
              <Button icon={CircleCheck} onClick={() => begin('processed')}>
                {t.mark.processed}
              </Button>
            )}
            {chosen.some(({ state }) => state === 'processed') && (
              <Button icon={RotateCcw} onClick={() => begin('new')}>
                {t.mark.new}
              </Button>
            )}
            {chosen.length > 0 && <IconButton icon={X} label={t.clearSelection} onClick={() => select(none)} />}
          </div>
          <Table
            caption={pageNames.value.invoices}
            columns={columns}
            rows={invoices}
            rowKey={({ id }) => id}
            empty={null}
            paging={paging}
            selection={{
              selected,
              onChange: select,
              labelOf: (invoice) => t.select(nameOf(invoice)),
              allLabel: t.selectAll,
            }}
          />
        </div>
      )}
      {marking && (
        <MarkingDialog
          {...marking}
          onClose={(done) => {
            setMarking(null);
            select(new Set([...selected].filter((id) => !done.has(id))));
          }}
        />
      )}
    </>
  );
}

function columnsOf(filter: InvoiceFilter): Column<Invoice>[] {
  const t = texts.value;
  const c = t.columns;
  return [
    {
      key: 'number',
      label: c.number,
      width: '18%',
      cell: (invoice) => {
        const kind = kindOf(invoice);
        return (
          <>
            <a href={invoicePath(invoice.id, filter)}>{nameOf(invoice)}</a> {kind && <Badge kind="info">{kind}</Badge>}
          </>
        );
      },
    },
    {
      key: 'seller',
      label: c.seller,
      width: '24%',
      cell: ({ seller, sender }) => seller ?? <span class={users.muted}>{sender ?? t.unknown}</span>,
    },
    {
      key: 'date',
      label: c.date,
      hideOnCard: true,
      cell: ({ date }) => (date === null ? t.unknown : <InvoiceDay day={date} />),
    },
    { key: 'due', label: c.due, cell: (invoice) => <DueDay invoice={invoice} /> },
    {
      key: 'amount',
      label: c.amount,
      align: 'end',
      cell: ({ totalCents, currency }) => <Amount cents={totalCents} currency={currency} />,
    },
    { key: 'format', label: c.format, hideOnCard: true, cell: ({ format }) => t.formats[format] },
    { key: 'state', label: c.state, cell: (invoice) => <StateOf invoice={invoice} /> },
  ];
}

function NoInvoices({ filter }: { filter: InvoiceFilter }) {
  const t = texts.value;
  if (filter.search.trim() === '') {
    return <EmptyState title={t.none[filter.view]}>{filter.view === 'new' && t.noneText}</EmptyState>;
  }
  const isEverywhere = filter.view === 'all';
  return (
    <EmptyState
      title={t.noneFound}
      action={
        <LinkButton href={listPath(isEverywhere ? { ...filter, search: '' } : { ...filter, view: 'all' })}>
          {isEverywhere ? t.clearSearch : t.searchAll}
        </LinkButton>
      }
    />
  );
}
