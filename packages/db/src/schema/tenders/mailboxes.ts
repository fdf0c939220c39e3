import { sql } from 'drizzle-orm';
import { bigint, foreignKey, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { instant, tenantColumns, tenantRules } from '../columns.ts';
import { imapColumns, imapFailure } from '../imap.ts';
import { tenants } from '../tenants.ts';

/**
 * Where an account gets alert mails of tender portals, one row per account. Its tenders have the source `mailbox:<userId>`, whose row says
 * how it was last read and stays when the mailbox is deleted.
 */
export const tenderMailboxes = pgTable(
  'tender_mailboxes',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    ...imapColumns(),
    /** Of whoever reads it now. Taken away by a change: what was read of the mailbox as it was before is not written any more. */
    claim: uuid(),
    /** Up to which mail it was read: a number of up to 64 bits, and the UID under it. Null until the first run has found where to begin. */
    uidValidity: text(),
    lastUid: bigint({ mode: 'number' }),
    /** A mail that could not be read, and how often. */
    triedUid: bigint({ mode: 'number' }),
    tries: integer().notNull().default(0),
    /** Sign-ins refused in a row. */
    refusals: integer().notNull().default(0),
    /** When it is read next; null while it is switched off or left alone. */
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
