import { sql } from 'drizzle-orm';
import { boolean, check, date, foreignKey, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, currentAccount, currentTenant, instant, platformRules } from '../columns.ts';

/** The source key of the current account’s mailbox. */
export const ownMailbox = sql`'mailbox:' || ${currentAccount}::text`;

/** The sources of notices, and their state between two reads. All registrations of a feed share one source. */
export const tenderSources = pgTable(
  'tender_sources',
  {
    /** `ted`, `oeffentlichevergabe`, `bund`, `rss:<id>`, `mailbox:<id of the account>` */
    key: text().primaryKey(),
    /** The address of a feed; the addresses of the other sources are settings. */
    url: text(),
    /** The last day that was read completely. */
    watermark: date(),
    etag: text(),
    lastModified: text(),
    bodyHash: text(),
    failures: integer().notNull().default(0),
    nextRunAt: instant(),
    lastRunAt: instant(),
    /**
     * Null until the first read is complete, which can take several runs. Tenders found until then are not new, so no mail reports them.
     * Replacing a mailbox by another one resets it.
     */
    lastSuccessAt: instant(),
    error: text(),
    newCount: integer().notNull().default(0),
    movedTo: text(),
    movedCount: integer().notNull().default(0),
    isGone: boolean().notNull().default(false),
  },
  (t) => [
    unique('tender_sources_url_unique').on(t.url),
    index('tender_sources_due').on(t.nextRunAt),
    ...platformRules(
      sql`(${t.url} is null and ${t.key} not like 'mailbox:%') or (${t.key} = ${ownMailbox} and exists (select from tender_mailboxes box where box.user_id = ${currentAccount})) or exists (select from rss_feeds feed where feed.source_key = ${t.key} and (feed.user_id is null or feed.user_id = ${currentAccount}))`,
    ),
  ],
);

/** Registrations of feeds: by an account for itself, or, without tenant and account, for the platform. */
export const rssFeeds = pgTable(
  'rss_feeds',
  {
    id: uuid().primaryKey(),
    tenantId: uuid(),
    userId: uuid(),
    url: text().notNull(),
    title: text(),
    isActive: boolean().notNull().default(true),
    sourceKey: text()
      .notNull()
      .references(() => tenderSources.key),
    createdAt: createdAt(),
  },
  (t) => [
    unique('rss_feeds_url_unique').on(t.userId, t.url).nullsNotDistinct(),
    check('rss_feeds_owner_complete', sql`(${t.tenantId} is null) = (${t.userId} is null)`),
    index('rss_feeds_user').on(t.tenantId, t.userId),
    index('rss_feeds_source').on(t.sourceKey),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...platformRules(
      sql`${t.userId} is null or (${t.tenantId} = ${currentTenant} and ${t.userId} = ${currentAccount})`,
    ),
  ],
);

/** Keys of the personal sources of the current account. Other accounts do not see tenders that only these list. */
export const ownSources = sql`array(select own.source_key from rss_feeds own where own.user_id = ${currentAccount} union all select ${ownMailbox})`;
