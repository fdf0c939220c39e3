import type { App } from '../zod-app.ts';
import { registerInvoiceList } from './invoice-routes.ts';
import { registerInvoiceMailbox } from './mailbox-routes.ts';

/** Invoices that arrive by mail. */
export function registerInvoices(app: App): void {
  registerInvoiceMailbox(app);
  registerInvoiceList(app);
}
