import { sql } from 'drizzle-orm';
import { bigint, foreignKey, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { instant, tenantColumns, tenantRules } from '../columns.ts';
import { imapColumns, imapFailure } from '../imap.ts';
import { tenants } from '../tenants.ts';

/**
 * The mailbox in which an account gets alert mails of tender portals, one row per account. Its tenders have the source `mailbox:<userId>`.
 * The row of that source holds the outcome of the last read and stays when the mailbox is deleted.
 */
export const tenderMailboxes = pgTable(
  'tender_mailboxes',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    ...imapColumns(),
    /** The claim of the running read. A change of the mailbox clears it, so a read of the old settings can write nothing more. */
    claim: uuid(),
    /** The last mail read: UIDVALIDITY (up to 64 bits) and UID. Null until the first run has found its start. */
    uidValidity: text(),
    lastUid: bigint({ mode: 'number' }),
    /** The mail that could not be read, and the number of attempts. */
    triedUid: bigint({ mode: 'number' }),
    tries: integer().notNull().default(0),
    /** Sign-ins refused in a row. */
    refusals: integer().notNull().default(0),
    /** The next read; null while the mailbox is switched off or paused. */
    nextFetchAt: instant(),
    lastError: imapFailure(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('tender_mailboxes_user_unique').on(t.tenantId, t.userId),
    index('tender_mailboxes_due')
      .on(t.nextFetchAt)
      .where(sql`next_fetch_at is not null`),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
