import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { createdAt, instant, tenantColumns, tenantPolicies, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const cloudCheckState = pgEnum('cloud_check_state', ['ok', 'failed']);

/** Clouds of customers, each with its last check and its reported state. */
export const cloudInstances = pgTable(
  'cloud_instances',
  {
    ...tenantColumns,
    customerName: text().notNull(),
    /** As entered by the user. */
    statusUrl: text().notNull(),
    isActive: boolean().notNull().default(true),
    /** The file of the logo; each upload gets a new name. */
    logoPath: text(),
    logoType: text(),
    /** The second of the hour at which the instance is checked. It spreads the checks over the hour. */
    slotSec: integer().notNull(),
    nextCheckAt: instant().notNull(),
    /** The lease of the check under way. Only its holder may store the result, until `leasedUntil`. */
    leaseId: uuid(),
    leasedUntil: instant(),

    lastCheckState: cloudCheckState(),
    reportedState: cloudCheckState().notNull().default('ok'),
    consecutiveFailures: integer().notNull().default(0),
    /** When the first of the current failed checks ended. */
    failingSince: instant(),
    failure: text(),
    message: text(),
    checkedAt: instant(),
    lastOkAt: instant(),

    isMaintenance: boolean().notNull().default(false),
    needsDbUpgrade: boolean().notNull().default(false),
    /** As shown by the cloud. */
    version: text(),
    /** The three version numbers, if they can be compared with the releases of the product. */
    release: text(),
    hasExtendedSupport: boolean().notNull().default(false),
    productName: text(),
    createdAt: createdAt(),
  },
  (t) => [
    index('cloud_instances_due')
      .on(t.nextCheckAt)
      .where(sql`is_active`),
    index('cloud_instances_tenant_due')
      .on(t.tenantId, t.nextCheckAt)
      .where(sql`is_active`),
    // Thousands of names take long to sort.
    index('cloud_instances_by_name').on(t.tenantId, t.customerName, t.id),
    // For recently checked instances, and for runs that check all.
    index('cloud_instances_checked').on(t.tenantId, t.checkedAt),
    // The sweep for orphaned files searches by path.
    index('cloud_instances_logo')
      .on(t.logoPath)
      .where(sql`logo_path is not null`),
    check('cloud_instances_logo_complete', sql`(${t.logoPath} is null) = (${t.logoType} is null)`),
    check('cloud_instances_lease_complete', sql`(${t.leaseId} is null) = (${t.leasedUntil} is null)`),
    check('cloud_instances_slot', sql`${t.slotSec} between 0 and 3599`),
    ...tenantRules(t, tenants),
  ],
);

/** Users who want a mail when an instance fails. */
export const cloudSubscriptions = pgTable(
  'cloud_subscriptions',
  {
    tenantId: uuid().notNull(),
    instanceId: uuid().notNull(),
    userId: uuid().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.instanceId, t.userId] }),
    index('cloud_subscriptions_user').on(t.tenantId, t.userId),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.instanceId],
      foreignColumns: [cloudInstances.tenantId, cloudInstances.id],
    }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
