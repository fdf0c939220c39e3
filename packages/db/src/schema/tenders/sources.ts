import { sql } from 'drizzle-orm';
import { boolean, check, date, foreignKey, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, currentAccount, currentTenant, instant, platformRules } from '../columns.ts';

/** The key of the source that the mailbox of the account at work is. */
export const ownMailbox = sql`'mailbox:' || ${currentAccount}::text`;

/** Where notices come from, and what is kept of each between two looks at it. A feed is one source, however many registered it. */
export const tenderSources = pgTable(
  'tender_sources',
  {
    /** `ted`, `oeffentlichevergabe`, `bund`, `rss:<id>`, `mailbox:<id of the account>` */
    key: text().primaryKey(),
    /** What a feed is read from; the addresses of the others are settings. */
    url: text(),
    /** The last day read to its end. */
    watermark: date(),
    etag: text(),
    lastModified: text(),
    bodyHash: text(),
    failures: integer().notNull().default(0),
    nextRunAt: instant(),
    lastRunAt: instant(),
    /**
     * Null until its first reading is complete, however many runs that takes: what a source brings until then has been there before, and
     * nobody is told of it at once. A mailbox that is exchanged for another one begins anew.
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

/** Who wants a feed read: an account for itself, or, without tenant and account, everybody. */
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

/** Keys of the personal sources of the account at work. What only they have shown is seen by nobody else. */
export const ownSources = sql`array(select own.source_key from rss_feeds own where own.user_id = ${currentAccount} union all select ${ownMailbox})`;
