import { invoiceFiles, invoiceMailboxes } from '@portal/db/schema/invoices';
import { SECOND } from '@portal/domain/time';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { auditActions } from './audit.ts';
import { fetchInvoices, startDueFetches } from './jobs.ts';
import { invoicePasswordContext } from './stored-mailbox.ts';

export const invoices: Area = {
  name: 'invoices',
  tags: { invoices: 'Invoices that arrive by mail: the mailbox, and the data of each invoice.' },
  jobs: [fetchInvoices, startDueFetches],
  schedules: [schedule(startDueFetches, {}, { everyMs: 10 * SECOND })],
  // A fetch mostly waits for its mail server. The process as a whole limits the number of mails in memory.
  concurrency: { invoices: quarterEach(20) },
  sealedColumns: [
    {
      table: invoiceMailboxes,
      column: invoiceMailboxes.password,
      boundTo: invoiceMailboxes.tenantId,
      context: invoicePasswordContext,
    },
  ],
  files: [{ folder: 'invoice-documents', table: invoiceFiles, path: invoiceFiles.path }],
  auditActions,
};
