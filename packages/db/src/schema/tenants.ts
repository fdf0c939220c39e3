import { sql } from 'drizzle-orm';
import { boolean, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, tenantPolicies } from './columns.ts';

export const tenants = pgTable(
  'tenants',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    isActive: boolean().notNull().default(true),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('tenants_name_unique').on(sql`lower(${t.name})`), ...tenantPolicies(t.id)],
);
