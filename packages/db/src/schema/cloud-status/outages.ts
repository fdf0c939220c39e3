import { sql } from 'drizzle-orm';
import { foreignKey, index, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { instant, tenantColumns, tenantPolicies, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';
import { cloudCheckState, cloudInstances } from './instances.ts';

/** Reported failures, each from its first failed check to the check that ended it. An instance has at most one open outage. */
export const cloudOutages = pgTable(
  'cloud_outages',
  {
    ...tenantColumns,
    instanceId: uuid().notNull(),
    failure: text().notNull(),
    message: text().notNull(),
    failingSince: instant().notNull(),
    reportedAt: instant().notNull(),
    endedAt: instant(),
  },
  (t) => [
    uniqueIndex('cloud_outages_open_unique')
      .on(t.tenantId, t.instanceId)
      .where(sql`ended_at is null`),
    index('cloud_outages_instance').on(t.tenantId, t.instanceId),
    index('cloud_outages_ended')
      .on(t.endedAt)
      .where(sql`ended_at is not null`),
    foreignKey({
      columns: [t.tenantId, t.instanceId],
      foreignColumns: [cloudInstances.tenantId, cloudInstances.id],
    }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** The users to notify of an outage, and whether they were. */
export const cloudOutageNotices = pgTable(
  'cloud_outage_notices',
  {
    tenantId: uuid().notNull(),
    outageId: uuid().notNull(),
    userId: uuid().notNull(),
    /** The outage whose mail reports this one: itself, or the first of a mass outage. Null until that mail is written. */
    mailedWith: uuid('told_with'),
    /** When the mail server accepted that mail, or may have accepted it. */
    sentAt: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.outageId, t.userId] }),
    index('cloud_outage_notices_user').on(t.tenantId, t.userId, t.sentAt),
    index('cloud_outage_notices_told_with').on(t.tenantId, t.userId, t.mailedWith),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.outageId],
      foreignColumns: [cloudOutages.tenantId, cloudOutages.id],
    }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** Changes of the reported state of instances. */
export const cloudTransitions = pgTable(
  'cloud_transitions',
  {
    ...tenantColumns,
    instanceId: uuid().notNull(),
    at: instant().notNull(),
    from: cloudCheckState().notNull(),
    to: cloudCheckState().notNull(),
    reason: text().notNull(),
  },
  (t) => [
    index('cloud_transitions_tenant').on(t.tenantId, t.at, t.id),
    index('cloud_transitions_instance').on(t.tenantId, t.instanceId, t.at, t.id),
    // For the retention sweep.
    index('cloud_transitions_at').on(t.at),
    foreignKey({
      columns: [t.tenantId, t.instanceId],
      foreignColumns: [cloudInstances.tenantId, cloudInstances.id],
    }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
