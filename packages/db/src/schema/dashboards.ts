import { foreignKey, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';
import { users } from './users.ts';

/** Pictures an account uploaded for picture frames and backgrounds. The file's name comes from id and detected type alone. */
export const dashboardImages = pgTable(
  'dashboard_images',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    originalName: text().notNull(),
    type: text().notNull(),
    sizeBytes: integer().notNull(),
    storagePath: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('dashboard_images_user').on(t.tenantId, t.userId),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
