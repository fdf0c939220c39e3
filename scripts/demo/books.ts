import { CanteenSettings } from '@portal/domain/accounting/canteen';
import { MerchandiseSettings } from '@portal/domain/accounting/merchandise';
import { mailboxForm } from '@portal/testing/invoices';
import { createAccount, listAccounts } from '@portal/usecases/accounting/accounts';
import { getCanteenSettings, putCanteenSettings } from '@portal/usecases/accounting/canteen-settings';
import { getMerchandiseSettings, putMerchandiseSettings } from '@portal/usecases/accounting/merchandise-settings';
import { listInvoices, updateInvoice } from '@portal/usecases/invoices/invoices';
import { fetchInvoices } from '@portal/usecases/invoices/jobs';
import { getInvoiceMailbox, putInvoiceMailbox } from '@portal/usecases/invoices/mailbox';
import { performJob } from './act.ts';
import type { Demo } from './fill.ts';

const canteen = CanteenSettings.parse({ beraternummer: '1234567', mandantennummer: '12345', lohnart: '9010' });
const merchandise = MerchandiseSettings.parse({
  format: 'extf',
  defaultContraAccount: '1460',
  beraternummer: '1234567',
  mandantennummer: '12345',
});
const accounts = { 8400: 'T-Shirts', 8401: 'Tassen', 8402: 'Mützen', 8403: 'Badekappen' };

/** Settings of both accounting exports, and invoices that came by mail if Dovecot is installed. */
export async function fillBooks(demo: Demo): Promise<void> {
  await demo.as('mara.muster', async (ctx) => {
    if ((await getCanteenSettings(ctx)).lohnart === '') await putCanteenSettings(ctx, canteen);
    if ((await getMerchandiseSettings(ctx)).beraternummer === '') await putMerchandiseSettings(ctx, merchandise);
    if ((await listAccounts(ctx)).accounts.length === 0)
      for (const [number, name] of Object.entries(accounts)) await createAccount(ctx, { number, name });
  });
  if (demo.systems.invoices !== null) await fillInvoices(demo, demo.systems.invoices);
}

async function fillInvoices(
  { runtime, tenantId, as }: Demo,
  mailbox: NonNullable<Demo['systems']['invoices']>,
): Promise<void> {
  await as('lena.probe', async (ctx) => {
    if ((await getInvoiceMailbox(ctx)).port !== mailbox.port)
      await putInvoiceMailbox(ctx, mailboxForm(mailbox, 'rechnung'));
  });
  const hasSome = await as('lena.probe', async (ctx) => (await listInvoices(ctx, { limit: 1 })).items.length > 0);
  if (!hasSome) await performJob(runtime, fetchInvoices, { tenantId });
  await as('lena.probe', async (ctx) => {
    const { items } = await listInvoices(ctx, { limit: 50 });
    if (items.some(({ state }) => state === 'processed')) return;
    const oldest = items.filter(({ state }) => state === 'new').slice(-2);
    for (const { id } of oldest) await updateInvoice(ctx, id, { state: 'processed' });
  });
}
