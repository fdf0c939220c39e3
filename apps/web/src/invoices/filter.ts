import type { Invoice } from '@portal/client/interface';
import { addressOf } from '../shell/address.ts';

export const invoicesPath = '/app/invoices';

export type InvoiceState = Invoice['state'];

/** What an account wants to see. */
export const views = ['new', 'failed', 'duplicate', 'processed', 'all'] as const;
export type View = (typeof views)[number];

export interface InvoiceFilter {
  view: View;
  /** As typed. */
  search: string;
}

export const longestSearch = 200;

/** The filter that an address names: `?state=`, `?search=`. What waits is shown first. */
export const filterOf = (params: Readonly<Record<string, string>>): InvoiceFilter => ({
  view: views.find((view) => view === params['state']) ?? 'new',
  search: (params['search'] ?? '').slice(0, longestSearch),
});

const paramsOf = ({ view, search }: InvoiceFilter) => ({ state: view === 'new' ? '' : view, search });

export const listPath = (filter: InvoiceFilter): string => addressOf(invoicesPath, paramsOf(filter));

/** The page of an invoice. With a filter, it leads on to the others of that list. */
export const invoicePath = (id: string, filter: InvoiceFilter): string =>
  addressOf(`${invoicesPath}/${id}`, paramsOf(filter));
