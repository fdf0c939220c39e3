import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { runs } from '@portal/db/schema/platform/operations';
import { tenants } from '@portal/db/schema/tenants';
import { SECOND } from '@portal/domain/time';
import type { SystemContext, TenantContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { hasModuleOn, isModuleOn } from '../modules/module-access.ts';
import { checkInstances } from './check-instances.ts';
import { claimDue, claimUnchecked, countUnchecked } from './claims.ts';
import { checkDueInstances } from './jobs.ts';
import { releaseTable } from './release-table.ts';

/** Tenants per sweep; the others follow a minute later. */
const maxTenants = 2_000;
/** How long a tenant with many slow clouds is checked before others get their turn. */
const turnMs = 30 * SECOND;
/** How often to check whether instances leased by other checks are done. */
const retryEveryMs = 500;

/**
 * Enqueues a check for every tenant with due instances. Skips inactive tenants and those that switched the module off. Also reads the
 * table of releases, which logs a warning if the table is outdated.
 */
export async function startDueCloudChecks(system: SystemContext): Promise<void> {
  await releaseTable(system).read();
  const due = await system.acrossTenants('tenants with due cloud checks are found', (tx) =>
    tx
      .selectDistinct({ tenantId: cloudInstances.tenantId })
      .from(cloudInstances)
      .innerJoin(tenants, and(eq(tenants.id, cloudInstances.tenantId), eq(tenants.isActive, true)))
      .where(
        and(
          eq(cloudInstances.isActive, true),
          isModuleOn(cloudInstances.tenantId, 'cloud-status'),
          lte(cloudInstances.nextCheckAt, sql`now()`),
          or(isNull(cloudInstances.leasedUntil), lte(cloudInstances.leasedUntil, sql`now()`)),
        ),
      )
      .limit(maxTenants),
  );
  for (const { tenantId } of due) await system.enqueue(checkDueInstances, { tenantId });
}

export async function checkDueCloudInstances(ctx: TenantContext, { signal }: Pick<Work, 'signal'>): Promise<void> {
  if (!(await hasModuleOn(ctx, 'cloud-status'))) return;
  const { isMoreLeft } = await checkInstances(ctx, { claim: (limit) => claimDue(ctx, limit), signal, turnMs });
  if (isMoreLeft) await ctx.enqueue(checkDueInstances, { tenantId: ctx.tenantId });
}

/**
 * Checks every active instance that was not checked since the run started. After a crash it continues with the rest. An instance leased
 * by another check counts as soon as that check ends.
 */
export async function checkAllCloudInstances(
  ctx: TenantContext,
  { signal, run, progress }: Pick<Work, 'signal' | 'run' | 'progress'>,
): Promise<void> {
  const [started] = run
    ? await ctx.read((db) => db.select({ at: runs.createdAt }).from(runs).where(eq(runs.id, run.id)))
    : [];
  if (!started || !(await hasModuleOn(ctx, 'cloud-status'))) return;
  const total = await countUnchecked(ctx, started.at);
  let left = total;
  while (left > 0) {
    const before = total - left;
    await checkInstances(ctx, {
      claim: (limit) => claimUnchecked(ctx, started.at, limit),
      signal,
      onChecked: (count) => progress(Math.min(before + count, total), total),
    });
    left = await countUnchecked(ctx, started.at);
    if (left > 0) await pause(retryEveryMs, undefined, { signal });
  }
}
