import { sql } from 'drizzle-orm';
import { boolean, check, foreignKey, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';
import { dashboardWidgets } from './tabs.ts';

/** Links of a favorites widget, each with an icon. */
export const favorites = pgTable(
  'favorites',
  {
    ...tenantColumns,
    widgetId: uuid().notNull(),
    title: text().notNull(),
    url: text().notNull(),
    /** From 0 without a gap. */
    position: integer().notNull(),
    /** Source of the icon: the address the user entered, or the one found on the page. */
    iconUrl: text(),
    isIconUrlNamed: boolean().notNull().default(false),
    /** File of the stored icon, uploaded or found, named by its own id. */
    iconPath: text(),
    iconType: text(),
    isIconUploaded: boolean().notNull().default(false),
    /** Raised each time the icon or its address changes; 0 until then. */
    iconVersion: integer().notNull().default(0),
    createdAt: createdAt(),
  },
  (t) => [
    index('favorites_widget').on(t.tenantId, t.widgetId, t.position),
    // The sweep of files without a row looks rows up by path.
    index('favorites_icon')
      .on(t.iconPath)
      .where(sql`icon_path is not null`),
    foreignKey({
      columns: [t.tenantId, t.widgetId],
      foreignColumns: [dashboardWidgets.tenantId, dashboardWidgets.id],
    }).onDelete('cascade'),
    check(
      'favorites_icon_complete',
      sql`(${t.iconPath} is null) = (${t.iconType} is null) and (not ${t.isIconUploaded} or ${t.iconPath} is not null) and (not ${t.isIconUrlNamed} or ${t.iconUrl} is not null)`,
    ),
    ...tenantRules(t, tenants),
  ],
);
