import { pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const payrollTarget = pgEnum('payroll_target', ['lodas', 'lohn-und-gehalt']);
export const payrollSign = pgEnum('payroll_sign', ['minus', 'plus']);

/** The payroll settings of a tenant; no row means nothing is set. Numbers are text to keep their leading zeros. */
export const canteenSettings = pgTable(
  'canteen_settings',
  {
    ...tenantColumns,
    beraternummer: text().notNull(),
    mandantennummer: text().notNull(),
    lohnart: text().notNull(),
    target: payrollTarget().notNull(),
    sign: payrollSign().notNull(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('canteen_settings_tenant_unique').on(t.tenantId), ...tenantRules(t, tenants)],
);
