import { LdapFailure } from '@portal/connectors/ldap/failure';
import { type Tx, violatedConstraint } from '@portal/db/open';
import { fieldSources } from '@portal/domain/directory-person';
import type { AccountPlan } from '@portal/domain/directory-plan';
import type { SyncCounts } from '@portal/domain/directory-sync';
import { conflict, PortalError, upstream } from '@portal/domain/errors';
import type { TenantCtx } from '../run/context.ts';
import type { Work } from '../run/handler.ts';
import { applyGroups, goneGroups } from './apply-groups.ts';
import { brakeOf } from './brake.ts';
import { type Changes, findChanges, type LeavingAccount } from './find-changes.ts';
import { listLdapMappings } from './ldap-mappings.ts';
import { planPeople } from './plan-people.ts';
import { batchesOf, portions, without } from './portions.ts';
import { type DirectoryRead, readDirectory } from './read-directory.ts';
import { checkStage, clearStage, type People, type Stage } from './staging.ts';
import { configuredDirectory, ldapServerOf } from './stored-ldap-config.ts';
import { openSyncReport, type SyncReport } from './sync-report.ts';
import { createAccounts, deactivateAccounts, deactivateSuperAdmin, updateAccounts } from './write-accounts.ts';

/** People per transaction. */
const batch = 5_000;
/** How often a batch is decided anew because somebody took a name in between. */
const maxDecisions = 3;

/**
 * One run: reads the directory to its end, then brings accounts, groups and memberships in line with it, one transaction for each
 * batch. Whatever fails while reading changes nothing; what a killed run left undone is done by its next try. Throws a PortalError
 * whose sentence is for administrators.
 */
export async function syncTenantDirectory(
  ctx: TenantCtx,
  { force }: { force: boolean },
  { run, signal, progress }: Work,
): Promise<void> {
  if (!run) throw new Error('A synchronization begins with a run.');
  const report = await openSyncReport(ctx, run);
  const stage: Stage = { scope: ctx, runId: run.id, attempt: run.attempt };
  try {
    await clearStage(stage);
    const config = await configuredDirectory(ctx);
    const read = await readDirectory({
      stage,
      config,
      server: ldapServerOf(ctx, config),
      sources: fieldSources(await listLdapMappings(ctx)),
      now: report.now,
      signal,
      // How many there are shows only at the end; about as many as there were last time.
      onRead: (people) => progress(people, Math.max(people, report.standing)),
    });
    report.counts.read = read.people;
    report.counts.skipped = read.people - read.live;
    report.warnings.add(...read.warnings);

    const changes = await findChanges(stage, { ...read, excluded: config.userExcludeList });
    const brake = brakeOf(changes, { people: read.people, ...(await goneGroups(stage, read.groups)) });
    if (brake !== null && !force) {
      await report.close({ isBlocked: true, summary: `The synchronization was blocked. ${brake}` });
      throw conflict('SYNC_BLOCKED', `${brake} Nothing was changed. If it is right so, start it with \`force\`.`);
    }

    /** A batch that concludes something from the stage. */
    const inBatch = (work: (tx: Tx) => Promise<Partial<SyncCounts>>) => {
      signal.throwIfAborted();
      return report.inBatch(async (tx) => {
        if (read.staged > 0) await checkStage(tx, stage);
        return work(tx);
      });
    };
    await applyPeople({ ctx, stage, isRead: read.isRead, report, inBatch }, changes);
    await deactivateLeaving(changes.leaving, report, inBatch);
    await applyGroups(stage, read, inBatch);
    await report.close({ isBlocked: false, summary: summaryOf(report.counts) });
  } catch (error) {
    if (signal.aborted || (error instanceof PortalError && error.code === 'SYNC_BLOCKED')) throw error;
    const failure =
      error instanceof LdapFailure ? upstream('DIRECTORY_UNAVAILABLE', error.message, { cause: error }) : error;
    if (failure instanceof PortalError) {
      // A database that is away cannot take it down; the run is found again by the sweep.
      await report
        .close({ isBlocked: false, summary: `The synchronization failed: ${failure.message}` })
        .catch((closing: unknown) =>
          ctx.log.warn({ err: closing, runId: run.id }, 'a failed synchronization could not be noted'),
        );
    }
    throw failure;
  } finally {
    await clearStage(stage).catch((clearing: unknown) =>
      ctx.log.warn({ err: clearing, runId: run.id }, 'the stage of a synchronization could not be cleared'),
    );
  }
}

type InBatch = (work: (tx: Tx) => Promise<Partial<SyncCounts>>) => Promise<void>;

/** Accounts that give each other names first, then other changes, so that what they give up is free for new ones. */
async function applyPeople(
  {
    ctx,
    stage,
    isRead,
    report,
    inBatch,
  }: { ctx: TenantCtx; stage: Stage; isRead: DirectoryRead['isRead']; report: SyncReport; inBatch: InBatch },
  { unknown, differing, entangled, twins }: Changes,
): Promise<void> {
  const plan = (people: People, areMovers = false) => planPeople(ctx, stage, people, { twins, isRead, areMovers });
  await settle({ parts: null, ids: entangled }, { areMovers: true });
  let ahead: { people: People; plans: Promise<AccountPlan[]> } | null = null;
  for (const people of [...batchesOf(without(differing, entangled), batch), ...batchesOf(unknown, batch)]) {
    // While one batch is written the next is decided; who finds a name taken by then is decided anew.
    const plans = plan(people);
    plans.catch(() => undefined);
    if (ahead) await settle(ahead.people, { plans: ahead.plans });
    ahead = { people, plans };
  }
  if (ahead) await settle(ahead.people, { plans: ahead.plans });

  async function settle(
    { parts, ids }: People,
    { plans, areMovers = false }: { plans?: Promise<AccountPlan[]>; areMovers?: boolean },
  ): Promise<void> {
    let left = ids;
    for (let decision = 1; left.length > 0 && decision <= maxDecisions; decision += 1) {
      const decided = await (decision === 1 && plans ? plans : plan({ parts, ids: left }, areMovers));
      try {
        left = await write(decided, areMovers);
      } catch (error) {
        if (!isNameTaken(error) || decision === maxDecisions) throw error;
      }
    }
    report.counts.skipped += left.length;
  }

  /** Answers the directory ids of those whose name somebody took a moment ago. */
  async function write(plans: AccountPlan[], areMovers: boolean): Promise<string[]> {
    const creations = plans.filter((plan) => plan.kind === 'create');
    const updates = plans.filter((plan) => plan.kind === 'update');
    let created = new Set<string>();
    if (creations.length + updates.length > 0) {
      await inBatch(async (tx) => {
        await updateAccounts(tx, updates, { areMovers });
        created = await createAccounts(tx, ctx, creations);
        const reactivated = updates.filter(({ isReactivated }) => isReactivated).length;
        return { created: created.size, reactivated, updated: updates.length - reactivated };
      });
    }
    report.counts.skipped += plans.filter(({ kind }) => kind === 'skip').length;
    const late = creations.map(({ values }) => values.directoryId).filter((id) => !created.has(id));
    const again = new Set(late);
    for (const plan of plans) {
      if (plan.kind !== 'create' || !again.has(plan.values.directoryId)) report.warnings.add(...plan.warnings);
    }
    return late;
  }
}

const isNameTaken = (error: unknown): boolean =>
  ['users_username_unique', 'users_email_unique', 'users_directory_id_unique'].includes(
    violatedConstraint(error) ?? '',
  );

async function deactivateLeaving(leaving: LeavingAccount[], report: SyncReport, inBatch: InBatch): Promise<void> {
  const others = leaving.filter(({ isSuperAdmin }) => !isSuperAdmin).map(({ id }) => id);
  for (const part of portions(others, batch)) {
    await inBatch(async (tx) => ({ deactivated: await deactivateAccounts(tx, part) }));
  }
  for (const { id, username } of leaving.filter(({ isSuperAdmin }) => isSuperAdmin)) {
    await report.inBatchAcross('the last active SUPER_ADMIN of all tenants is kept', async (tx) => {
      const isOff = await deactivateSuperAdmin(tx, id);
      if (!isOff) report.warnings.add(`The account “${username}” stays active: it is the last active SUPER_ADMIN.`);
      return { deactivated: isOff ? 1 : 0 };
    });
  }
}

/** Null for a run that changed nothing. */
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
