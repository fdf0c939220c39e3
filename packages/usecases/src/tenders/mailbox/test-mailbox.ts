import type { ImapTest } from '@portal/domain/imap';
import type { AlertMailboxInput } from '@portal/domain/tenders/alert-mailbox';
import type { UserContext } from '@portal/platform/context';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { tryMailbox } from '../../mailboxes/try-mailbox.ts';
import { recordAudit } from '../audit.ts';
import { imapServerWith, storedMailbox } from './stored-mailbox.ts';

/**
 * Tests a mailbox before it is saved: signs in and opens the folder. A failure of the mailbox is part of the answer. Throws 400
 * `SECRET_REQUIRED` if the password was stored for another server, and 429 after ten tests in a minute.
 */
export const testAlertMailbox = (
  ctx: UserContext,
  { password: input, ...fields }: AlertMailboxInput,
  { testMs }: { testMs?: number } = {},
): Promise<ImapTest> =>
  tryMailbox(ctx, {
    folder: fields.folder,
    testMs,
    async server() {
      const userId = ctx.actor.id;
      const stored = await ctx.read((db) => storedMailbox(db, userId));
      const server = imapServerWith(ctx, { userId, stored }, fields, input);
      await beginSettingsTest(ctx, {
        action: 'tender-mailbox.test',
        recordAudit,
        subject: 'alert mailbox',
        server: `${fields.host}:${fields.port}`,
        input,
        hasStoredSecret: Boolean(stored?.password),
        each: 'user',
      });
      return server;
    },
  });
