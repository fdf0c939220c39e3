import { sql } from 'drizzle-orm';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress } from '@portal/connectors/ldap/server';
import { fieldSources } from '@portal/domain/directory/person';
import { type AccountPlan, fieldNames, superAdminLeft } from '@portal/domain/directory/plan';
import {
  type LdapSyncPreview,
  maxPreviewChanges,
  noCounts,
  type SyncChange,
  Warnings,
} from '@portal/domain/directory/sync';
import { busy, upstream } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { portions } from '@portal/domain/portions';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { listLdapMappings } from '../ldap-mappings.ts';
import { configuredDirectory, excludedNames, ldapServerOf } from '../stored-ldap-config.ts';
import { countGroupChanges, goneGroups } from './apply-groups.ts';
import { deactivationLimitOf } from './deactivation-limit.ts';
import { findChanges } from './find-changes.ts';
import { type GivenUp, givenUpBy, planAccounts } from './plan-accounts.ts';
import { type DirectoryRead, readDirectory } from './read-directory.ts';
import { openReadingMemory } from './reading-memory.ts';
import { clearStage, type Stage } from './stage.ts';

/** A user waits for the preview. */
const readingTimeoutMs = 25 * SECOND;
const batch = 5_000;
const MiB = 1024 * 1024;

const refusal = () => busy('Several previews are already running. Please try again in a moment.', 15);

const inSlot = openSemaphore({ ...callLimits.syncPreviews, refusal });

/** Less memory than a run, because the API process makes previews while it answers all other requests. */
const beginReading = resource(() =>
  openReadingMemory({
    each: 64 * MiB,
    all: 96 * MiB,
    always: 4 * MiB,
    advice: 'A synchronization may use more memory than a preview.',
  }),
);

const inComparison = openSemaphore({ ...callLimits.syncComparisons, refusal });

/**
 * Returns what a synchronization would do now. Writes only the stage and clears it again. Throws 409 `DIRECTORY_NOT_CONFIGURED`, 502
 * `DIRECTORY_UNAVAILABLE` with a plain reason (also if reading takes longer than 25 s), and 429 if too many requests already wait.
 */
export async function previewSync(ctx: TenantContext): Promise<LdapSyncPreview> {
  const config = await configuredDirectory(ctx);
  return inSlot(() => preview(ctx, config), { key: ctx.tenantId });
}

async function preview(
  ctx: TenantContext,
  config: Awaited<ReturnType<typeof configuredDirectory>>,
): Promise<LdapSyncPreview> {
  const signal = AbortSignal.timeout(readingTimeoutMs);
  const stage: Stage = { scope: ctx, runId: newId(), attempt: 0 };
  using memory = beginReading(ctx)();
  try {
    const read = await readDirectory({
      ctx,
      stage,
      config,
      server: ldapServerOf(ctx, config),
      sources: fieldSources(await listLdapMappings(ctx)),
      now: await databaseTime(ctx),
      signal,
      memory,
      onRead: () => undefined,
    }).catch((error: unknown) => {
      if (error instanceof LdapError) throw upstream('DIRECTORY_UNAVAILABLE', error.message, { cause: error });
      throw signal.aborted ? tooSlow(config.serverUrl, error) : error;
    });
    // Outside the time limit: the comparison runs in the database and does not depend on the directory server.
    return await inComparison(() => compare(ctx, stage, read, excludedNames(config)));
  } finally {
    await clearStage(stage);
  }
}

function tooSlow(serverUrl: string, cause: unknown): Error {
  const { host, port } = ldapAddress(serverUrl);
  return upstream(
    'DIRECTORY_UNAVAILABLE',
    `The directory server ${host}:${port} needs more than ${readingTimeoutMs / SECOND} seconds to be read completely. A synchronization has more time.`,
    { cause },
  );
}

async function databaseTime(ctx: TenantContext): Promise<Date> {
  const { rows } = await ctx.tx((tx) =>
    tx.execute<{ ms: string }>(sql`select floor(extract(epoch from now()) * 1000) as ms`),
  );
  return new Date(Number(rows[0]?.ms));
}

async function compare(
  ctx: TenantContext,
  stage: Stage,
  read: DirectoryRead,
  excluded: Set<string>,
): Promise<LdapSyncPreview> {
  const counts = { ...noCounts, read: read.people, skipped: read.people - read.live };
  const warnings = new Warnings();
  warnings.add(...read.warnings);
  const found = await findChanges(stage, { staged: read.people, excluded });
  const changes: SyncChange[] = [];
  const skippedIds: string[] = [];
  const note = (change: SyncChange) => changes.length < maxPreviewChanges && changes.push(change);

  let givenUp: GivenUp | undefined;
  const decide = async (ids: string[], areSwaps = false): Promise<void> => {
    const plans = await planAccounts(ctx, stage, ids, {
      duplicates: found.duplicates,
      excluded,
      isRead: read.isRead,
      areSwaps,
      ...(givenUp && { givenUp }),
    });
    if (areSwaps) givenUp = givenUpBy(plans);
    for (const plan of plans) {
      warnings.add(...plan.warnings);
      if (plan.kind === 'skip' || plan.kind === 'exclude') {
        counts.skipped += 1;
        skippedIds.push(plan.directoryId);
      }
      if (plan.kind === 'create') counts.created += 1;
      if (plan.kind === 'update') counts[plan.isReactivated ? 'reactivated' : 'updated'] += 1;
      if (plan.kind === 'exclude' && plan.account.isActive) counts.deactivated += 1;
      const change = changeOf(plan);
      if (change) note(change);
    }
  };
  if (found.swaps.length > 0) await decide(found.swaps, true);
  for (const ids of portions(found.differing, batch)) await decide(ids);
  for (const ids of portions(found.unknown, batch)) await decide(ids);
  for (const { username, isExcluded, isSuperAdmin } of found.leaving) {
    if (isSuperAdmin) {
      warnings.add(superAdminLeft(username));
      continue;
    }
    counts.deactivated += 1;
    const details = isExcluded ? excludedDetails : 'Is switched off: the directory no longer admits it.';
    note({ kind: 'deactivate', username, details, fields: [] });
  }
  const groupChanges = await countGroupChanges(stage, read, skippedIds);
  return {
    counts: { ...counts, ...groupChanges },
    isBlocked: deactivationLimitOf(found, { people: read.people, ...goneGroups(read) }) !== null,
    changes,
    warnings: warnings.list(),
  };
}

const excludedDetails = 'Is switched off: it is on the exclude list.';

function changeOf(plan: AccountPlan): SyncChange | null {
  switch (plan.kind) {
    case 'create':
      return { kind: 'create', username: plan.values.username, details: 'Gets an account.', fields: [] };
    case 'update': {
      const { account, values, isReactivated } = plan;
      const names = plan.changed.map((field) => fieldNames[field]);
      const changed = names.length === 0 ? '' : ` Changes ${names.join(', ')}.`;
      return {
        kind: isReactivated ? 'reactivate' : 'update',
        username: account.username,
        details: isReactivated ? `Is switched on again.${changed}` : changed.trim(),
        fields: plan.changed.flatMap((field) =>
          field === 'ldapDn' || field === 'directoryId'
            ? []
            : [{ field, before: account[field], after: values[field] }],
        ),
      };
    }
    case 'exclude': {
      const { isActive, username } = plan.account;
      return isActive ? { kind: 'deactivate', username, details: excludedDetails, fields: [] } : null;
    }
    default:
      return null;
  }
}
