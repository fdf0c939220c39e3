import { createHash } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { ldapReadings } from '@portal/db/schema/directory';
import { RememberedPeople, type RememberedPerson, storePeople } from '@portal/domain/directory-memory';
import type { FieldSources } from '@portal/domain/directory-person';
import { unavailable } from '@portal/domain/errors';
import type { TenantCtx } from '../run/context.ts';
import { importedSum } from './imported-sum.ts';
import type { StoredLdapConfig } from './stored-ldap-config.ts';

/** What the last synchronization of a tenant left behind. */
export interface LastReading {
  rules: string;
  groupsDigest: string;
  people: RememberedPeople;
  /** Adds to the people what is needed once something has changed, and answers the directory ids of their groups. */
  details(): Promise<string[]>;
}

/** What is known before a directory is read. */
export interface Recalled {
  /** Null when there is none, and when somebody has changed accounts, groups or memberships since: then everybody is compared. */
  last: LastReading | null;
  /** The sum over what is kept, before anything is compared with it. */
  importedSum: bigint;
  /** How many imported accounts are active. */
  active: number;
}

/** More people than this are not remembered: one row holds them all. */
const maxRemembered = 1_000_000;

export async function recallLastReading(ctx: TenantCtx): Promise<Recalled> {
  const { runId, rules, groupsDigest, importedSum: sumThen, entries, groupIds, directoryIds, groups } = ldapReadings;
  const [[row], { sum, active }] = await Promise.all([
    ctx.read((db) => db.select({ runId, rules, groupsDigest, sumThen, entries }).from(ldapReadings)),
    importedSum(ctx),
  ]);
  if (row?.sumThen !== `${sum}`) return { last: null, importedSum: sum, active };
  const people = new RememberedPeople(row.entries);
  const details = async (): Promise<string[]> => {
    const [texts] = await ctx.read((db) =>
      db.select({ groupIds, directoryIds, groups }).from(ldapReadings).where(eq(runId, row.runId)),
    );
    // A preview holds nothing, so a synchronization may end beside it.
    if (!texts) throw unavailable('The directory was synchronized at the same time. Please try again.');
    people.add(texts);
    return texts.groupIds === '' ? [] : texts.groupIds.split('\n');
  };
  return { last: { rules: row.rules, groupsDigest: row.groupsDigest, people, details }, importedSum: sum, active };
}

/** All but the entries themselves that decides what becomes of a person. A release may have other rules, so its name is one. */
export function rulesOf(
  { config: { release } }: TenantCtx,
  { baseDn, includeDns, userExcludeList }: StoredLdapConfig,
  { filter, sources }: { filter: string; sources: FieldSources },
): string {
  const rules = [release.version, release.commit, baseDn, filter, includeDns, userExcludeList, sources];
  return createHash('sha256').update(JSON.stringify(rules)).digest('base64');
}

/** What a synchronization found, for the next one to begin from. */
export interface NewReading {
  rules: string;
  groupsDigest: string;
  groupIds: string[];
  /** Null when they are the remembered ones. */
  people: RememberedPerson[] | null;
}

/** Remembers it; `sum` is what the sum is to be when nobody else changes anything. */
export async function rememberReading(
  tx: Tx,
  { tenantId, runId }: { tenantId: string; runId: string },
  { rules, groupsDigest, groupIds, people }: NewReading,
  sum: bigint,
): Promise<void> {
  const found = { groupsDigest, importedSum: `${sum}` };
  if (people === null) {
    await tx.update(ldapReadings).set({ ...found, readAt: sql`now()` });
    return;
  }
  await tx.delete(ldapReadings);
  if (people.length > maxRemembered) return;
  await tx
    .insert(ldapReadings)
    .values({ tenantId, runId, rules, ...found, groupIds: groupIds.join('\n'), ...storePeople(people) });
}
