import { LdapFailure } from '@portal/connectors/ldap/failure';
import { violatedConstraint } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { fieldSources } from '@portal/domain/directory-person';
import { type AccountPlan, directoryIdOfPlan, superAdminLeft } from '@portal/domain/directory-plan';
import type { SyncCounts } from '@portal/domain/directory-sync';
import { conflict, PortalError, upstream } from '@portal/domain/errors';
import { MINUTE } from '@portal/domain/time';
import type { TenantCtx } from '../run/context.ts';
import type { Work } from '../run/handler.ts';
import { applyGroups, goneGroups } from './apply-groups.ts';
import { brakeOf } from './brake.ts';
import { type Changes, findChanges, type LeavingAccount } from './find-changes.ts';
import { together } from './imported-sum.ts';
import { rememberReading } from './last-reading.ts';
import { listLdapMappings } from './ldap-mappings.ts';
import type { News } from './people-reader.ts';
import { planPeople } from './plan-people.ts';
import { batchesOf, portions, without } from './portions.ts';
import { type DirectoryRead, readDirectory } from './read-directory.ts';
import { checkStage, clearStage, type People, type Stage } from './staging.ts';
import { configuredDirectory, ldapServerOf } from './stored-ldap-config.ts';
import { type Batch, openSyncReport, type SyncReport } from './sync-report.ts';
import { createAccounts, deactivateAccounts, superAdminsAmong, updateAccounts } from './write-accounts.ts';

/** People per transaction. */
const batch = 5_000;
/** How often a batch is decided anew because somebody took a name or became SUPER_ADMIN in between. */
const maxDecisions = 3;

/** A server that answers ever so slowly holds its place in the queue no longer; a million people take some ten minutes. */
const usualReadingMs = 20 * MINUTE;

/**
 * One run: reads the directory to its end, then brings accounts, groups and memberships in line with it, one transaction for each
 * batch. Whatever fails while reading changes nothing; what a killed run left undone is done by its next try. Throws a PortalError
 * whose sentence is for administrators.
 */
export async function syncTenantDirectory(
  ctx: TenantCtx,
  { force }: { force: boolean },
  { run, signal, progress }: Work,
  { readingMs = usualReadingMs } = {},
): Promise<void> {
  if (!run) throw new Error('A synchronization begins with a run.');
  const report = await openSyncReport(ctx, run);
  const stage: Stage = { scope: ctx, runId: run.id, attempt: run.attempt };
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
      onRead: progress,
    }).catch((error: unknown) => {
      throw reading.aborted && !signal.aborted
        ? upstream(
            'DIRECTORY_UNAVAILABLE',
            `The directory could not be read to its end within ${readingMs / MINUTE} minutes.`,
            { cause: error },
          )
        : error;
    });
    report.counts.read = read.people;
    report.counts.skipped = read.people - read.live;
    report.warnings.add(...read.warnings);

    const remember =
      read.news === null
        ? undefined
        : await applyNews({ ctx, stage, report, signal }, { excluded: config.userExcludeList, force }, read, read.news);
    await report.close({ isBlocked: false, summary: summaryOf(report.counts), remember });
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

type InBatch = (work: (tx: Tx) => Promise<Batch>) => Promise<void>;

/** Does what is to be done and answers how to remember it. Throws 409 `SYNC_BLOCKED` when it would take too much away. */
async function applyNews(
  { ctx, stage, report, signal }: { ctx: TenantCtx; stage: Stage; report: SyncReport; signal: AbortSignal },
  { excluded, force }: { excluded: string[]; force: boolean },
  read: DirectoryRead,
  news: News,
): Promise<(tx: Tx) => Promise<void>> {
  const { staged, people, importedSum } = read;
  const changes = await findChanges(stage, { staged, changed: news.changed, excluded });
  const brake = brakeOf(changes, { people, ...(await goneGroups(stage, news.groups)) });
  if (brake !== null && !force) {
    await report.close({ isBlocked: true, summary: `The synchronization was blocked. ${brake}` });
    throw conflict('SYNC_BLOCKED', `${brake} Nothing was changed. If it is right so, start it with \`force\`.`);
  }

  /** A batch that concludes something from the stage. */
  const inBatch: InBatch = (work) => {
    signal.throwIfAborted();
    return report.inBatch(async (tx) => {
      if (staged > 0) await checkStage(tx, stage);
      return work(tx);
    });
  };
  const unsettled = new Set<string>();
  const remembered = { tenantId: ctx.tenantId, runId: stage.runId };
  await applyPeople({ ctx, stage, isRead: news.isRead, report, inBatch, unsettled }, changes);
  await deactivateLeaving(changes.leaving, { report, inBatch, unsettled });
  await applyGroups(stage, { ...news, staged }, inBatch);
  return (tx) => rememberReading(tx, remembered, news.toRemember(unsettled), importedSum + report.sum);
}

/** Accounts that give each other names first, then other changes, so that what they give up is free for new ones. */
async function applyPeople(
  {
    ctx,
    stage,
    isRead,
    report,
    inBatch,
    unsettled,
  }: {
    ctx: TenantCtx;
    stage: Stage;
    isRead: News['isRead'];
    report: SyncReport;
    inBatch: InBatch;
    /** Collects directory ids of those whose account is not what the directory says. */
    unsettled: Set<string>;
  },
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
    people: People,
    { plans, areMovers = false }: { plans?: Promise<AccountPlan[]>; areMovers?: boolean },
  ): Promise<void> {
    if (people.ids.length === 0) return;
    for (let decision = 1; ; decision += 1) {
      const decided = await (decision === 1 && plans ? plans : plan(people, areMovers));
      try {
        await write(decided, areMovers);
        return;
      } catch (error) {
        if (!(isNameTaken(error) || error instanceof Appointed) || decision === maxDecisions) throw error;
      }
    }
  }

  async function write(plans: AccountPlan[], areMovers: boolean): Promise<void> {
    const creations = plans.filter((plan) => plan.kind === 'create');
    const updates = plans.filter((plan) => plan.kind === 'update');
    if (creations.length + updates.length > 0) {
      await inBatch(async (tx) => {
        const updated = await updateAccounts(tx, updates, { areMovers });
        const ids = updates.map(({ account }) => account.id);
        if (ids.length > 0 && (await superAdminsAmong(tx, ids)).size > 0) throw new Appointed();
        const created = await createAccounts(tx, ctx, creations);
        const reactivated = updates.filter(({ isReactivated }) => isReactivated).length;
        return {
          counts: { created: created.rows, reactivated, updated: updates.length - reactivated },
          sum: together(updated, created).sum,
        };
      });
    }
    report.counts.skipped += plans.filter(({ kind }) => kind === 'skip').length;
    for (const plan of plans) {
      report.warnings.add(...plan.warnings);
      // Whatever keeps an account from being what the directory says is said in a warning.
      const directoryId = directoryIdOfPlan(plan);
      if (plan.warnings.length > 0 && directoryId !== null) unsettled.add(directoryId);
    }
  }
}

/** An account became SUPER_ADMIN after it was decided to change it. */
class Appointed extends Error {}

/** Somebody took a name a moment ago. */
const isNameTaken = (error: unknown): boolean =>
  ['users_username_unique', 'users_email_unique', 'users_directory_id_unique'].includes(
    violatedConstraint(error) ?? '',
  );

async function deactivateLeaving(
  leaving: LeavingAccount[],
  { report, inBatch, unsettled }: { report: SyncReport; inBatch: InBatch; unsettled: Set<string> },
): Promise<void> {
  for (const part of portions(leaving, batch)) {
    let left = new Set<string>();
    await inBatch(async (tx) => {
      const ids = part.map(({ id }) => id);
      const { rows, sum } = await deactivateAccounts(tx, ids);
      left = await superAdminsAmong(tx, ids);
      return { counts: { deactivated: rows }, sum };
    });
    for (const { directoryId, username } of part.filter(({ id }) => left.has(id))) {
      report.warnings.add(superAdminLeft(username));
      unsettled.add(directoryId);
    }
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
