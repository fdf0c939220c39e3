import type { ImapTest } from '@portal/domain/imap';
import type { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import type { UserContext } from '@portal/platform/context';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { tryMailbox } from '../mailboxes/try-mailbox.ts';
import { recordAudit } from './audit.ts';
import { imapServerWith, storedMailbox } from './stored-mailbox.ts';

/**
 * Tests a mailbox before it is saved: signs in, opens the folder and checks that the target folders exist. A failure is part of the
 * answer. Throws 400 `SECRET_REQUIRED` if the stored password belongs to another server, and 429 after ten tests in a minute.
 */
export const testInvoiceMailbox = (
  ctx: UserContext,
  { password: input, ...fields }: InvoiceMailboxInput,
  { testMs }: { testMs?: number } = {},
): Promise<ImapTest> =>
  tryMailbox(ctx, {
    folder: fields.folder,
    otherFolders: [fields.processedFolder, fields.failedFolder].filter((folder) => folder !== null),
    testMs,
    async server() {
      const stored = await ctx.read((db) => storedMailbox(db));
      const server = imapServerWith(ctx, stored, fields, input);
      await beginSettingsTest(ctx, {
        action: 'invoice_mailbox.test',
        recordAudit,
        subject: 'invoice mailbox',
        server: `${fields.host}:${fields.port}`,
        input,
        hasStoredSecret: Boolean(stored?.password),
      });
      return server;
    },
  });
