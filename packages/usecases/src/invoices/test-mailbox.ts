import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import { busy } from '@portal/domain/errors';
import type { ImapTest } from '@portal/domain/imap';
import type { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { openSharedSlots } from '@portal/platform/semaphore';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { recordAudit } from './audit.ts';
import { imapServerWith, storedMailbox } from './stored-mailbox.ts';

/** Nobody waits for a place: what hangs would make a person wait for longer than the answer may take. */
const inSlot = openSharedSlots({
  each: { slots: 4, queueLimit: 0 },
  all: { slots: 40, queueLimit: 0 },
  refusal: () => busy('Several mailboxes are being tried already. Please try again in a moment.', 15),
});

/** Longer than each of its steps may take. */
const usualTestMs = 20 * SECOND;

/**
 * Tries a mailbox before it is saved: signs in, opens the folder and looks for those mails are to be moved to. Trouble with it is part of
 * the answer. Throws 400 `SECRET_REQUIRED` where the stored password was stored for another server, and 429 after ten tries in a minute.
 */
export async function testInvoiceMailbox(
  ctx: UserContext,
  { password: input, ...fields }: InvoiceMailboxInput,
  { testMs = usualTestMs } = {},
): Promise<ImapTest> {
  try {
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
    const { openMailbox } = await import('@portal/connectors/imap/mailbox');
    await inSlot(ctx.tenantId, async () => {
      const signal = AbortSignal.timeout(testMs);
      try {
        using mailbox = await openMailbox(server, { folder: fields.folder, isWritable: false, signal });
        for (const folder of [fields.processedFolder, fields.failedFolder]) {
          if (folder !== null && !(await mailbox.hasFolder(folder)))
            throw new ImapFailure('folderMissing', server, `has no folder ${folder} to move mails to.`);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new ImapFailure('timeout', server, `did not answer within ${testMs / SECOND} seconds.`, error);
      }
    });
    return { ok: true, error: null, message: 'The mailbox can be read.' };
  } catch (error) {
    if (!(error instanceof ImapFailure)) throw error;
    return { ok: false, error: error.kind, message: error.message };
  }
}
