import { type Handler, handle } from '@portal/platform/jobs/handler';
import { fetchTenantInvoices } from './fetch/fetch-invoices.ts';
import { fetchInvoices, startDueFetches } from './jobs.ts';
import { startDueInvoiceFetches } from './start-due-fetches.ts';

export const invoiceHandlers: Handler[] = [
  handle(fetchInvoices, (ctx, _payload, work) => fetchTenantInvoices(ctx, work)),
  handle(startDueFetches, startDueInvoiceFetches),
];
