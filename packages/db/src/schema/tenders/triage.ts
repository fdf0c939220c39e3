import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { tenantPolicies } from '../columns.ts';
import { tenants } from '../tenants.ts';
import { tenders } from './notices.ts';

/** Read and favorite marks of an account. Deleted with the tender. */
export const tenderTriage = pgTable(
  'tender_triage',
  {
    tenantId: uuid().notNull(),
    userId: uuid().notNull(),
    tenderId: uuid().notNull(),
    isRead: boolean().notNull().default(false),
    isFavorite: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.userId, t.tenderId] }),
    index('tender_triage_tender').on(t.tenderId),
    index('tender_triage_favorites')
      .on(t.tenantId, t.userId)
      .where(sql`is_favorite`),
    foreignKey({ columns: [t.tenderId], foreignColumns: [tenders.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
