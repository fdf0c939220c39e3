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

/** Tenants per sweep; the others come a minute later. */
const maxTenants = 2_000;
/** What a tenant of many slow clouds takes before others have their turn. */
const turnMs = 30 * SECOND;
/** Between looks at instances that other checks are at. */
const lookEveryMs = 500;

/** Has the due instances of every tenant checked; inactive tenants and those that switched the module off rest. Looks at the table of releases, so that its age is told. */
export async function startDueCloudChecks(system: SystemContext): Promise<void> {
  await releaseTable(system).read();
  const due = await system.acrossTenants('tenants with clouds to be checked are found', (tx) =>
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
 * Checks every active instance that was not checked since the run was started. Taken up again after a crash it goes on with what is
 * left, and what another check is at counts when that one is done.
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
    if (left > 0) await pause(lookEveryMs, undefined, { signal });
  }
}
