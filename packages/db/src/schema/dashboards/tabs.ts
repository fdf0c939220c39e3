import { sql } from 'drizzle-orm';
import { check, foreignKey, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { Layouts } from '@portal/domain/dashboards/grid';
import type { WidgetConfig } from '@portal/domain/dashboards/widgets';
import { users } from '../accounts/users.ts';
import { createdAt, instant, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

/** The dashboards of an account, each with its layout. Code that changes a tab's widgets or layout locks the tab's row first. */
export const dashboardTabs = pgTable(
  'dashboard_tabs',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    name: text().notNull(),
    /** From 0 without a gap. */
    position: integer().notNull(),
    /** Grid of the stored layout. `gridVersion`, `layouts` and `layoutUpdatedAt` are null until a layout is stored. */
    gridVersion: integer(),
    /** Items by breakpoint, each breakpoint present. */
    layouts: jsonb().$type<Layouts>(),
    /** Raised by every save and by every widget removed from the tab. */
    layoutRevision: integer().notNull().default(0),
    layoutUpdatedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('dashboard_tabs_user').on(t.tenantId, t.userId, t.position),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    check(
      'dashboard_tabs_layout',
      sql`num_nulls(${t.gridVersion}, ${t.layouts}, ${t.layoutUpdatedAt}) in (0, 3) and (${t.gridVersion} is not null or ${t.layoutRevision} = 0)`,
    ),
    ...tenantRules(t, tenants),
  ],
);

/** The widgets of a tab: each has a type from the shared list and a configuration that type allows. */
export const dashboardWidgets = pgTable(
  'dashboard_widgets',
  {
    ...tenantColumns,
    tabId: uuid().notNull(),
    type: text().notNull(),
    config: jsonb().$type<WidgetConfig>().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('dashboard_widgets_tab').on(t.tenantId, t.tabId),
    foreignKey({
      columns: [t.tenantId, t.tabId],
      foreignColumns: [dashboardTabs.tenantId, dashboardTabs.id],
    }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** Pictures an account uploaded for picture frames and backgrounds. The file name consists of the id and the detected type. */
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
    // The sweep of files without a row looks rows up by path.
    index('dashboard_images_path').on(t.storagePath),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
