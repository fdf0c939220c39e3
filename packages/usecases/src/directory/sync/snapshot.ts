import { createHash, hash } from 'node:crypto';
import { isNotNull, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { ldapSnapshotEntries, ldapSnapshots } from '@portal/db/schema/directory';
import { groupMembers, groups } from '@portal/db/schema/modules';
import type { FieldSources } from '@portal/domain/directory/person';
import type { KnownGroup } from '@portal/domain/directory/plan';
import type { TenantContext } from '@portal/platform/context';
import type { StoredLdapConfig } from '../stored-ldap-config.ts';
import { countOf, expectPeople, linesOf, linesParam, type Stage, stagedPeople } from './stage.ts';

/** What the last successful sync run left behind, as far as it still stands. */
export interface Snapshot {
  groupsDigest: string;
  /** People whose account and memberships still are what they were to be. */
  intact: IntactPeople;
  /** Directory ids of all others who have an account or had an entry: theirs has to be compared. */
  suspects: string[];
}

const fingerprintLength = 16;
/** A fingerprint, and whether the person is live: `1` or `0`. */
const placeLength = fingerprintLength + 1;

/** People in a sorted buffer: a map of a hundred thousand texts keeps the collector busier than everything else a run does. */
class IntactPeople {
  readonly count: number;
  readonly #places: Buffer;
  readonly #text: string | null;
  #lines: string[] | null = null;

  /** `places` are in the order of the fingerprints, and `text` has a line for each: the hash of the belonging, and the directory id. */
  constructor(places: Buffer | null, text: string | null) {
    this.#places = places ?? Buffer.alloc(0);
    this.#text = text;
    this.count = this.#places.length / placeLength;
  }

  /** The place of the person whose entry has that fingerprint, or -1. */
  find(fingerprint: string): number {
    let from = 0;
    let to = this.count - 1;
    while (from <= to) {
      const middle = (from + to) >> 1;
      const order = this.#compare(middle, fingerprint);
      if (order === 0) return middle;
      if (order < 0) from = middle + 1;
      else to = middle - 1;
    }
    return -1;
  }

  isLive(place: number): boolean {
    return this.#places[place * placeLength + fingerprintLength] === 0x31;
  }

  belonging(place: number): string {
    return this.#line(place).slice(0, belongingLength);
  }

  directoryId(place: number): string {
    return this.#line(place).slice(belongingLength);
  }

  /** In most runs nobody asks. */
  #line(place: number): string {
    this.#lines ??= linesOf(this.#text);
    return this.#lines[place] ?? '';
  }

  #compare(place: number, fingerprint: string): number {
    const start = place * placeLength;
    for (let at = 0; at < fingerprintLength; at += 1) {
      const order = (this.#places[start + at] ?? 0) - fingerprint.charCodeAt(at);
      if (order !== 0) return order;
    }
    return 0;
  }
}

/** What is known before a directory is read. */
export interface Known {
  /** Null when there is none, or it was taken by other settings: then everybody is compared. */
  snapshot: Snapshot | null;
  /** The tenant's groups that came from its directory. */
  groups: KnownGroup[];
  /** How many imported accounts are active. */
  active: number;
}

/** By what the bytes of an entry are recognized, a character for each byte: as much of the hash as two entries never share. */
export const fingerprintOf = (entry: Uint8Array): string => hash('sha256', entry, 'latin1').slice(0, fingerprintLength);

/** By what the groups of a person are recognized, and whether the include list lets them in. */
export const hashBelonging = (groupIds: string[], isAdmitted: boolean): string =>
  `${isAdmitted ? 1 : 0}${hash('sha256', groupIds.toSorted().join('\n'), 'base64').slice(0, belongingLength - 1)}`;
const belongingLength = 17;

/** All but the entries themselves that decides what becomes of a person. A release may decide otherwise, so its name is part of it. */
export function settingsHashOf(
  { config: { release } }: TenantContext,
  { baseDn, includeDns, userExcludeList }: StoredLdapConfig,
  { filter, sources }: { filter: string; sources: FieldSources },
): string {
  const settings = [release.version, release.commit, baseDn, filter, includeDns, userExcludeList, sources];
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}

/**
 * A hash of all texts of a row of `users`, or of a stage, that a sync run compares; the name is that of the row in the statement.
 * Each hash is the seed of the next. A text of that one control character would count as none.
 */
const accountHash = (row: string): SQL =>
  sql.raw(
    ['directory_id', 'ldap_dn', 'username', 'email', 'display_name', 'first_name', 'last_name'].reduce(
      (seed, column) => `hashtextextended(coalesce(${row}.${column}, e'\\x01'), ${seed})`,
      '0',
    ),
  );

/** A hash of some memberships: the hashes of all of them combined, in whatever order. */
const membershipsHash = (userId: SQL, groupId: SQL): SQL =>
  sql`coalesce(bit_xor(uuid_hash_extended(${userId}, uuid_hash_extended(${groupId}, 0))), 0)`;

/** Loads the snapshot and compares it with accounts and memberships as they are: whoever somebody has touched is not intact. */
export async function loadSnapshot(ctx: TenantContext, settingsHash: string): Promise<Known> {
  return ctx.tx(async (tx) => {
    await expectPeople(tx, countOf(null));
    const known = await tx
      .select({ id: groups.id, directoryId: sql<string>`${groups.directoryId}`, internalName: groups.internalName })
      .from(groups)
      .where(isNotNull(groups.directoryId));
    const [taken] = await tx.select().from(ldapSnapshots);
    if (taken?.settingsHash !== settingsHash) {
      const active = await tx.$count(users, sql`${users.isActive} and ${users.ldapDn} is not null`);
      return { snapshot: null, groups: known, active };
    }
    const moved = await findMoved(tx, ctx.tenantId);
    const { rows } = await tx.execute<{
      places: Buffer | null;
      lines: string | null;
      suspects: string | null;
      active: number;
    }>(sql`
      select string_agg(fingerprint || is_live::int::text::bytea, ''::bytea) filter (where is_intact) as places,
        string_agg(belonging || directory_id, chr(10)) filter (where is_intact) as lines,
        string_agg(directory_id, chr(10)) filter (where is_intact is not true and (is_active or fingerprint is not null)) as suspects,
        count(*) filter (where is_active)::int as active
      from (
        select coalesce(e.directory_id, u.directory_id) as directory_id, u.is_active, e.fingerprint, e.belonging, e.is_live,
          e.directory_id <> all(${linesParam(moved)}) and (e.expires_at > now()) is not false and case
            when e.is_live then e.row_hash = ${accountHash('u')} and u.role <> 'SUPER_ADMIN' and not (u.deactivated_by_sync and not u.is_active)
            else u.is_active is not true end as is_intact
        from (select * from ${ldapSnapshotEntries} where tenant_id = ${ctx.tenantId}) e
          full join (select * from ${users} where tenant_id = ${ctx.tenantId} and directory_id is not null) u
            on u.directory_id = e.directory_id
        order by e.fingerprint) people`);
    const [row] = rows;
    const intact = new IntactPeople(row?.places ?? null, row?.lines ?? null);
    const suspects = [...linesOf(row?.suspects ?? null), ...moved];
    return {
      snapshot: { groupsDigest: taken.groupsDigest, intact, suspects },
      groups: known,
      active: row?.active ?? 0,
    };
  });
}

/** Directory ids of accounts with other memberships than they were to have. Only when all of them together are others is each looked at. */
async function findMoved(tx: Tx, tenantId: string): Promise<string[]> {
  const inDirectoryGroups = sql`m.tenant_id = ${tenantId} and m.group_id not in (
    select g.id from ${groups} g where g.tenant_id = ${tenantId} and g.directory_id is null)`;
  const hash = membershipsHash(sql`m.user_id`, sql`m.group_id`);
  const { rows: same } = await tx.execute(sql`
    select from (select ${hash} as hash from ${groupMembers} m where ${inDirectoryGroups}) actual
    where actual.hash = (select coalesce(bit_xor(memberships_hash), 0) from ${ldapSnapshotEntries} where tenant_id = ${tenantId})`);
  if (same.length > 0) return [];
  const { rows } = await tx.execute<{ ids: string | null }>(sql`
    select string_agg(u.directory_id, chr(10)) as ids from ${users} u
      left join ${ldapSnapshotEntries} e on e.tenant_id = u.tenant_id and e.directory_id = u.directory_id
      left join (select m.user_id, ${hash} as hash from ${groupMembers} m where ${inDirectoryGroups} group by m.user_id) m on m.user_id = u.id
    where u.tenant_id = ${tenantId} and coalesce(m.hash, 0) <> coalesce(e.memberships_hash, 0)`);
  return linesOf(rows[0]?.ids ?? null);
}

/** More people than this are compared each time: whoever loads a snapshot holds a line of each. */
const maxPeople = 1_000_000;

/** What a sync run found, for the next one to begin from. */
export interface NewSnapshot {
  settingsHash: string;
  groupsDigest: string;
  /** Directory ids of all who were not intact, on the stage or gone; null for everybody. */
  changed: string[] | null;
  /** How many people are on the stage. */
  staged: number;
  /** The groups of the directory by their positions, as they are kept here. */
  groupIds: string[];
}

/**
 * Takes over who is on the stage and forgets who is gone; who was found intact stays as it is. What is remembered of an account is
 * what it was to be: if it is anything else, be it that a name was taken or that somebody came in between, the next run compares it.
 * Nothing is remembered of who is excluded and has another name here: that ends, too, when the name in the directory becomes free.
 */
export async function saveSnapshot(tx: Tx, stage: Stage, found: NewSnapshot): Promise<void> {
  const { tenantId } = stage.scope;
  const { changed, staged, groupIds, settingsHash, groupsDigest } = found;
  await expectPeople(tx, countOf(changed));
  const isForgotten = changed === null ? sql`true` : sql`directory_id = any(${linesParam(changed)})`;
  await tx.execute(sql`delete from ${ldapSnapshotEntries} where tenant_id = ${tenantId} and ${isForgotten}`);
  if (staged > maxPeople) {
    await tx.delete(ldapSnapshots);
    return;
  }
  await tx.execute(sql`
    insert into ${ldapSnapshotEntries} (tenant_id, directory_id, fingerprint, belonging, is_live, expires_at, row_hash, memberships_hash)
    select s.tenant_id, s.directory_id, decode(s.fingerprint, 'base64'), s.belonging, s.standing = 'live', s.expires_at,
      case when s.standing = 'live' and not s.has_bad_email then ${accountHash('s')} end,
      case when s.standing = 'live' and u.id is not null then (
        select ${membershipsHash(sql`u.id`, sql`(${sql.param(groupIds)}::uuid[])[p.position + 1]`)} from unnest(s.groups) p (position)) else 0 end
    from ${stagedPeople(stage, 's')} left join ${users} u on u.tenant_id = s.tenant_id and u.directory_id = s.directory_id
    where s.standing <> 'excluded' or u.id is null or u.username is not distinct from s.username`);
  const header = { settingsHash, groupsDigest, takenAt: sql`now()` };
  await tx
    .insert(ldapSnapshots)
    .values({ tenantId, ...header })
    .onConflictDoUpdate({ target: ldapSnapshots.tenantId, set: header });
}
