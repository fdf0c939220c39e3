import { and, asc, count, eq, sql } from 'drizzle-orm';
import { prepared, type RowOf } from '@portal/db/prepared';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { lightOf, type TrafficLight, worstFirst } from '@portal/domain/cloud-status/checks';
import {
  type CloudInstance,
  type CloudInstanceChange,
  type CloudOverview,
  maxCloudInstances,
  type NewCloudInstance,
} from '@portal/domain/cloud-status/instances';
import { assessVersion, type ReleaseTable } from '@portal/domain/cloud-status/releases';
import { conflict, notFound } from '@portal/domain/errors';
import type { FailureClass } from '@portal/domain/failure-class';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { forgetInWidgets } from '../dashboards/named-in-widgets.ts';
import { recordAudit } from './audit.ts';
import { nextSlot } from './next-check.ts';
import { releaseTable } from './release-table.ts';

const shownColumns = {
  id: cloudInstances.id,
  customerName: cloudInstances.customerName,
  statusUrl: cloudInstances.statusUrl,
  hasLogo: sql<boolean>`${cloudInstances.logoPath} is not null`.as('has_logo'),
  isActive: cloudInstances.isActive,
  lastCheckState: cloudInstances.lastCheckState,
  reportedState: cloudInstances.reportedState,
  consecutiveFailures: cloudInstances.consecutiveFailures,
  failure: cloudInstances.failure,
  message: cloudInstances.message,
  checkedAt: cloudInstances.checkedAt,
  lastOkAt: cloudInstances.lastOkAt,
  isMaintenance: cloudInstances.isMaintenance,
  needsDbUpgrade: cloudInstances.needsDbUpgrade,
  version: cloudInstances.version,
  release: cloudInstances.release,
  hasExtendedSupport: cloudInstances.hasExtendedSupport,
  productName: cloudInstances.productName,
  subscribed: sql<boolean>`${cloudSubscriptions.userId} is not null`.as('subscribed'),
};

const subscriptionOfCaller = and(
  eq(cloudSubscriptions.tenantId, cloudInstances.tenantId),
  eq(cloudSubscriptions.instanceId, cloudInstances.id),
  eq(cloudSubscriptions.userId, sql.placeholder('userId')),
);

const instancesByName = prepared<{ userId: string }>()('cloud_instances_by_name', (db) =>
  db
    .select(shownColumns)
    .from(cloudInstances)
    .leftJoin(cloudSubscriptions, subscriptionOfCaller)
    .orderBy(asc(cloudInstances.customerName), asc(cloudInstances.id)),
);

const instanceById = prepared<{ userId: string; id: string }>()('cloud_instance_by_id', (db) =>
  db
    .select(shownColumns)
    .from(cloudInstances)
    .leftJoin(cloudSubscriptions, subscriptionOfCaller)
    .where(eq(cloudInstances.id, sql.placeholder('id'))),
);

/** What the light of an instance depends on. */
const lightColumns = {
  isActive: cloudInstances.isActive,
  lastCheckState: cloudInstances.lastCheckState,
  reportedState: cloudInstances.reportedState,
  isMaintenance: cloudInstances.isMaintenance,
  needsDbUpgrade: cloudInstances.needsDbUpgrade,
  release: cloudInstances.release,
  hasExtendedSupport: cloudInstances.hasExtendedSupport,
};

/** All of these columns as one text, because a parameter can be a list of texts, but not of rows that contain nulls. */
const stateKey = sql<string>`row(${sql.join(Object.values(lightColumns), sql`, `)})::text`;

const statesOfInstances = prepared<{ userId: string }>()('cloud_states', (db) =>
  db
    .select({
      ...lightColumns,
      key: stateKey.as('key'),
      count: count().as('count'),
      subscribed: count(cloudSubscriptions.userId).as('subscribed'),
    })
    .from(cloudInstances)
    .leftJoin(cloudSubscriptions, subscriptionOfCaller)
    .groupBy(...Object.values(lightColumns)),
);

const firstInStates = prepared<{ userId: string; keys: string[]; limit: number }>()('cloud_instances_in_states', (db) =>
  db
    .select(shownColumns)
    .from(cloudInstances)
    .leftJoin(cloudSubscriptions, subscriptionOfCaller)
    .where(sql`${stateKey} = any(${sql.placeholder('keys')}::text[])`)
    .orderBy(asc(cloudInstances.customerName), asc(cloudInstances.id))
    .limit(sql.placeholder('limit')),
);

/** The tenant's instances by name. */
export async function listCloudInstances(ctx: UserContext): Promise<CloudInstance[]> {
  const [rows, table] = await Promise.all([
    ctx.run(instancesByName, { userId: ctx.actor.id }),
    releaseTable(ctx).read(),
  ]);
  const now = ctx.now();
  return rows.map((row) => toInstance(row, table, now));
}

/**
 * How many of the tenant's instances have each light, and the first `limit` of them, the worst first and then by name. Of thousands, it
 * reads only the first as a whole.
 */
export async function overviewOfClouds(ctx: UserContext, limit: number): Promise<CloudOverview> {
  const userId = ctx.actor.id;
  const [states, table] = await Promise.all([ctx.run(statesOfInstances, { userId }), releaseTable(ctx).read()]);
  const now = ctx.now();
  const counts = { red: 0, yellow: 0, grey: 0, green: 0 };
  const keysOf: Record<TrafficLight, string[]> = { red: [], yellow: [], grey: [], green: [] };
  let subscribed = 0;
  for (const state of states) {
    const light = lightOf(state, assessVersion(state, table, now));
    counts[light] += state.count;
    subscribed += state.subscribed;
    keysOf[light].push(state.key);
  }
  const instances: CloudInstance[] = [];
  for (const light of worstFirst) {
    const missing = limit - instances.length;
    if (missing === 0 || counts[light] === 0) continue;
    const rows = await ctx.run(firstInStates, { userId, keys: keysOf[light], limit: missing });
    instances.push(...rows.map((row) => toInstance(row, table, now)));
  }
  return { counts, subscribed, instances };
}

/** Throws 404. */
export async function getCloudInstance(ctx: UserContext, id: string): Promise<CloudInstance> {
  const [[row], table] = await Promise.all([
    ctx.run(instanceById, { userId: ctx.actor.id, id }),
    releaseTable(ctx).read(),
  ]);
  if (!row) throw notFound();
  return toInstance(row, table, ctx.now());
}

/** Adds an instance, checked within the hour and then every hour. Throws 409 `LIMIT_REACHED`. */
export async function createCloudInstance(
  ctx: UserContext,
  { customerName, statusUrl, isActive }: NewCloudInstance,
): Promise<CloudInstance> {
  const id = newId();
  const slotSec = Math.floor(Math.random() * 3_600);
  await ctx.tx(async (tx) => {
    await lockTenant(tx, ctx.tenantId);
    if ((await tx.$count(cloudInstances)) >= maxCloudInstances) {
      throw conflict('LIMIT_REACHED', `There are already ${maxCloudInstances} instances. Please delete one first.`);
    }
    await tx.insert(cloudInstances).values({
      id,
      tenantId: ctx.tenantId,
      customerName,
      statusUrl,
      isActive,
      slotSec,
      nextCheckAt: nextSlot(slotSec),
    });
    await recordAudit(tx, ctx, {
      action: 'cloud_instances.create',
      tenantId: ctx.tenantId,
      target: { type: 'cloud_instance', id },
      summary: `Added the cloud of ${customerName} at ${statusUrl}.`,
    });
  });
  return getCloudInstance(ctx, id);
}

/** Changes the named fields. A new address discards the result of a check under way. Throws 404. */
export async function updateCloudInstance(
  ctx: UserContext,
  id: string,
  { customerName, statusUrl, isActive }: CloudInstanceChange,
): Promise<CloudInstance> {
  await ctx.tx(async (tx) => {
    const [before] = await tx
      .select({ customerName: cloudInstances.customerName, statusUrl: cloudInstances.statusUrl })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id))
      .for('update');
    if (!before) throw notFound();
    const isMoved = statusUrl !== undefined && statusUrl !== before.statusUrl;
    const changes = {
      ...(customerName !== undefined && { customerName }),
      ...(isActive !== undefined && { isActive }),
      ...(isMoved && { statusUrl, leaseId: null, leasedUntil: null, nextCheckAt: sql`now()` }),
    };
    if (Object.keys(changes).length === 0) return;
    await tx.update(cloudInstances).set(changes).where(eq(cloudInstances.id, id));
    await recordAudit(tx, ctx, {
      action: 'cloud_instances.update',
      tenantId: ctx.tenantId,
      target: { type: 'cloud_instance', id },
      summary: `Changed the cloud of ${customerName ?? before.customerName}.`,
    });
  });
  return getCloudInstance(ctx, id);
}

/** Deletes an instance with its logo, its transitions and its unsent mails, and removes it from widgets. Throws 404. */
export async function deleteCloudInstance(ctx: UserContext, id: string): Promise<void> {
  const path = await ctx.tx(async (tx) => {
    const [deleted] = await tx
      .delete(cloudInstances)
      .where(eq(cloudInstances.id, id))
      .returning({ customerName: cloudInstances.customerName, path: cloudInstances.logoPath });
    if (!deleted) throw notFound();
    await forgetInWidgets(tx, ctx, 'instanceIds', id);
    await recordAudit(tx, ctx, {
      action: 'cloud_instances.delete',
      tenantId: ctx.tenantId,
      target: { type: 'cloud_instance', id },
      summary: `Deleted the cloud of ${deleted.customerName}.`,
    });
    return deleted.path;
  });
  if (path !== null) await ctx.files.remove(path);
}

function toInstance(row: RowOf<typeof instanceById>, table: ReleaseTable, now: Date): CloudInstance {
  const { release, hasExtendedSupport, ...shown } = row;
  const assessed = assessVersion({ release, hasExtendedSupport }, table, now);
  const { versionAssessment, latestVersion, supportEndsAt } = assessed;
  return {
    ...shown,
    failure: row.failure as FailureClass | null,
    light: lightOf(row, assessed),
    versionAssessment,
    latestVersion,
    supportEndsAt,
  };
}
