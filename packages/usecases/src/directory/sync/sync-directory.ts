import { desc, eq, lt } from 'drizzle-orm';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { violatedConstraint } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { ldapSyncRuns } from '@portal/db/schema/directory';
import { runs } from '@portal/db/schema/platform/operations';
import { fieldSources } from '@portal/domain/directory/person';
import { type AccountPlan, superAdminLeft } from '@portal/domain/directory/plan';
import type { SyncCounts } from '@portal/domain/directory/sync';
import { conflict, PortalError, upstream } from '@portal/domain/errors';
import { portions } from '@portal/domain/portions';
import { MINUTE } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { jobLimits, urgency } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import type { RunAtWork } from '@portal/platform/runs/state';
import { openSemaphore } from '@portal/platform/semaphore';
import {
  createAccounts,
  deactivateAccounts,
  superAdminsAmong,
  updateAccounts,
} from '../../accounts/imported-accounts.ts';
import { listLdapMappings } from '../ldap-mappings.ts';
import { configuredDirectory, excludedNames, ldapServerOf } from '../stored-ldap-config.ts';
import { applyGroups, goneGroups } from './apply-groups.ts';
import { deactivationLimitOf } from './deactivation-limit.ts';
import { type Changes, findChanges, type LeavingAccount } from './find-changes.ts';
import { planAccounts } from './plan-accounts.ts';
import { type DirectoryRead, readDirectory } from './read-directory.ts';
import { openReadingMemory } from './reading-memory.ts';
import { checkStage, clearStage, excludeStaged, type Stage } from './stage.ts';
import { openSyncReport, type SyncReport } from './sync-report.ts';

/** People per transaction. */
const batch = 5_000;
/** Maximum attempts to apply a batch. A retry follows if another account took a name or became SUPER_ADMIN in between. */
const maxAttempts = 3;

/** Time limit for reading, so that a slow server does not block its slot. A million people take about ten minutes. */
const defaultReadingMs = 20 * MINUTE;

const MiB = 1024 * 1024;
/** Enough for 800,000 people in a dozen groups each, or a million people in a few groups. */
const beginReading = resource(() =>
  openReadingMemory({
    each: 384 * MiB,
    all: 384 * MiB,
    always: 8 * MiB,
    advice: 'Please choose a base DN with fewer entries below it.',
  }),
);

const inSlotOf = resource(() => openSemaphore(jobLimits.directorySyncs));

/**
 * Performs one run: reads the whole directory, then brings accounts, groups and memberships in line with it, one transaction per batch.
 * A failure while reading changes nothing. The next attempt completes a killed run. Throws a PortalError with a sentence for
 * administrators.
 */
export async function syncTenantDirectory(
  ctx: TenantContext,
  { force }: { force: boolean },
  work: Work,
  { readingMs = defaultReadingMs } = {},
): Promise<void> {
  const { run, signal } = work;
  if (!run) throw new Error('A synchronization needs a run.');
  const waiting = { key: ctx.tenantId, urgency: await urgencyOf(ctx, run), signal };
  await inSlotOf(ctx)(() => syncInSlot(ctx, { ...work, run, force, readingMs }), waiting);
}

async function urgencyOf(ctx: TenantContext, run: RunAtWork): Promise<number> {
  const [last] = await ctx.read((db) =>
    db
      .select({ state: runs.state, isBlocked: ldapSyncRuns.isBlocked })
      .from(ldapSyncRuns)
      .innerJoin(runs, eq(runs.id, ldapSyncRuns.id))
      .where(lt(ldapSyncRuns.id, run.id))
      .orderBy(desc(ldapSyncRuns.id))
      .limit(1),
  );
  return last?.state === 'failed' && !last.isBlocked ? urgency.hung : urgency.answered;
}

async function syncInSlot(
  ctx: TenantContext,
  {
    run,
    signal,
    progress,
    force,
    readingMs,
  }: Pick<Work, 'signal' | 'progress'> & { run: RunAtWork; force: boolean; readingMs: number },
): Promise<void> {
  const report = await openSyncReport(ctx, run);
  const stage: Stage = { scope: ctx, runId: run.id, attempt: run.attempt };
  using memory = beginReading(ctx)();
  try {
    const [config, mappings] = await Promise.all([configuredDirectory(ctx), listLdapMappings(ctx), clearStage(stage)]);
    const reading = AbortSignal.any([signal, AbortSignal.timeout(readingMs)]);
    const read = await readDirectory({
      ctx,
      stage,
      config,
      server: ldapServerOf(ctx, config),
      sources: fieldSources(mappings),
      now: report.now,
      signal: reading,
      memory,
      onRead: progress,
    }).catch((error: unknown) => {
      throw reading.aborted && !signal.aborted
        ? upstream(
            'DIRECTORY_UNAVAILABLE',
            `The directory could not be read completely within ${readingMs / MINUTE} minutes.`,
            { cause: error },
          )
        : error;
    });
    report.counts.read = read.people;
    report.counts.skipped = read.people - read.live;
    report.warnings.add(...read.warnings);

    await applyDirectory({ ctx, stage, report, signal }, read, { excluded: excludedNames(config), force });
    await report.close({ isBlocked: false, summary: summaryOf(report.counts) });
  } catch (error) {
    if (signal.aborted || (error instanceof PortalError && error.code === 'SYNC_BLOCKED')) throw error;
    const failure =
      error instanceof LdapError ? upstream('DIRECTORY_UNAVAILABLE', error.message, { cause: error }) : error;
    if (failure instanceof PortalError) {
      // If the database is down, this cannot be recorded; the sweep finds the run later.
      await report
        .close({ isBlocked: false, summary: `The synchronization failed: ${failure.message}` })
        .catch((closing: unknown) =>
          ctx.log.warn({ err: closing, runId: run.id }, 'could not record a failed synchronization'),
        );
    }
    throw failure;
  } finally {
    await clearStage(stage).catch((clearing: unknown) =>
      ctx.log.warn({ err: clearing, runId: run.id }, 'could not clear the stage of a synchronization'),
    );
  }
}

/** Applies all changes. Throws 409 `SYNC_BLOCKED` if the run would take away too much. */
async function applyDirectory(
  { ctx, stage, report, signal }: { ctx: TenantContext; stage: Stage; report: SyncReport; signal: AbortSignal },
  read: DirectoryRead,
  { excluded, force }: { excluded: Set<string>; force: boolean },
): Promise<void> {
  const changes = await findChanges(stage, { staged: read.people, excluded });
  const tooMuch = deactivationLimitOf(changes, { people: read.people, ...goneGroups(read) });
  if (tooMuch !== null && !force) {
    await report.close({ isBlocked: true, summary: `The synchronization was blocked. ${tooMuch}` });
    throw conflict(
      'SYNC_BLOCKED',
      `${tooMuch} Nothing was changed. If this is intended, start the synchronization with \`force\`.`,
    );
  }

  /** Checks the stage before each batch that draws conclusions from it. */
  const inBatch: SyncReport['inBatch'] = (work) => {
    signal.throwIfAborted();
    return report.inBatch(async (tx) => {
      if (read.people > 0) await checkStage(tx, stage);
      return work(tx);
    });
  };
  await applyPeople({ ctx, stage, isRead: read.isRead, excluded, report, inBatch }, changes);
  await deactivateLeaving(changes.leaving, { report, inBatch });
  await applyGroups(stage, read, inBatch);
}

interface Applying {
  ctx: TenantContext;
  stage: Stage;
  isRead: DirectoryRead['isRead'];
  excluded: Set<string>;
  report: SyncReport;
  inBatch: SyncReport['inBatch'];
}

/** Applies swaps of names first, then other changes, then new accounts, which may need names that the changes gave up. */
async function applyPeople(
  { ctx, stage, isRead, excluded, report, inBatch }: Applying,
  { unknown, differing, swaps, duplicates }: Changes,
): Promise<void> {
  const plan = (ids: string[], areSwaps = false) =>
    planAccounts(ctx, stage, ids, { duplicates, excluded, isRead, areSwaps });
  if (swaps.length > 0) await applyBatch(swaps, { areSwaps: true });
  let pending: { ids: string[]; plans: Promise<AccountPlan[]> } | null = null;
  for (const ids of [...portions(differing, batch), ...portions(unknown, batch)]) {
    // Plans the next batch while writing the current one. If a name is taken by then, that batch is planned again.
    const plans = plan(ids);
    plans.catch(() => undefined);
    if (pending) await applyBatch(pending.ids, { plans: pending.plans });
    pending = { ids, plans };
  }
  if (pending) await applyBatch(pending.ids, { plans: pending.plans });

  async function applyBatch(
    ids: string[],
    { plans, areSwaps = false }: { plans?: Promise<AccountPlan[]>; areSwaps?: boolean },
  ): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const decided = await (attempt === 1 && plans ? plans : plan(ids, areSwaps));
      try {
        await write(decided, areSwaps);
        return;
      } catch (error) {
        if (!(isNameTaken(error) || error instanceof PromotedError) || attempt === maxAttempts) throw error;
      }
    }
  }

  async function write(plans: AccountPlan[], areSwaps: boolean): Promise<void> {
    const creations = plans.filter((plan) => plan.kind === 'create');
    const updates = plans.filter((plan) => plan.kind === 'update');
    const exclusions = plans.filter((plan) => plan.kind === 'exclude');
    if (creations.length + updates.length + exclusions.length > 0) {
      await inBatch(async (tx) => {
        await updateAccounts(tx, updates, { areSwaps });
        const deactivated = await exclude(tx, exclusions);
        const ids = [...updates, ...exclusions].map(({ account }) => account.id);
        if (ids.length > 0 && (await superAdminsAmong(tx, ids)).size > 0) throw new PromotedError();
        const reactivated = updates.filter(({ isReactivated }) => isReactivated);
        await report.recordSwitched(tx, 'on again', namesOf(reactivated));
        await report.recordSwitched(tx, 'off', namesOf(exclusions.filter(({ account }) => account.isActive)));
        return {
          created: await createAccounts(tx, ctx, creations),
          reactivated: reactivated.length,
          updated: updates.length - reactivated.length,
          deactivated,
        };
      });
    }
    report.counts.skipped += plans.filter(({ kind }) => kind === 'skip' || kind === 'exclude').length;
    for (const { warnings } of plans) report.warnings.add(...warnings);
  }

  /** Deactivates the accounts and excludes them on the stage, so that later steps skip them. */
  async function exclude(tx: Tx, exclusions: Extract<AccountPlan, { kind: 'exclude' }>[]): Promise<number> {
    if (exclusions.length === 0) return 0;
    await excludeStaged(
      tx,
      stage,
      exclusions.map(({ directoryId }) => directoryId),
    );
    return deactivateAccounts(
      tx,
      exclusions.map(({ account }) => account.id),
    );
  }
}

const namesOf = (plans: { account: { username: string } }[]): string[] => plans.map(({ account }) => account.username);

/** An account became SUPER_ADMIN after the run had planned to change it. */
class PromotedError extends Error {}

/** Whether another account has just taken a name. */
const isNameTaken = (error: unknown): boolean =>
  ['users_username_unique', 'users_email_unique', 'users_directory_id_unique'].includes(
    violatedConstraint(error) ?? '',
  );

async function deactivateLeaving(
  leaving: LeavingAccount[],
  { report, inBatch }: Pick<Applying, 'report' | 'inBatch'>,
): Promise<void> {
  for (const part of portions(leaving, batch)) {
    const ids = part.map(({ id }) => id);
    let superAdmins = new Set<string>();
    await inBatch(async (tx) => {
      const deactivated = await deactivateAccounts(tx, ids);
      superAdmins = await superAdminsAmong(tx, ids);
      const switchedOff = part.filter(({ id }) => !superAdmins.has(id)).map(({ username }) => username);
      if (deactivated > 0) await report.recordSwitched(tx, 'off', switchedOff);
      return { deactivated };
    });
    for (const { id, username } of part) if (superAdmins.has(id)) report.warnings.add(superAdminLeft(username));
  }
}

/** The summary for the audit log; null if the run changed nothing. */
function summaryOf({ created, updated, reactivated, deactivated, groups, memberships }: SyncCounts): string | null {
  const parts = Object.entries({ created, updated, reactivated, deactivated, groups, memberships })
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${changeNames[what as keyof typeof changeNames]}`);
  return parts.length === 0 ? null : `Synchronized the directory: ${parts.join(', ')}.`;
}

const changeNames = {
  created: 'accounts created',
  updated: 'updated',
  reactivated: 'switched on again',
  deactivated: 'switched off',
  groups: 'groups changed',
  memberships: 'memberships changed',
};
