import { type Directory, openDirectory } from '@portal/connectors/ldap/directory';
import type { LdapEntry } from '@portal/connectors/ldap/entry';
import type { LdapServer } from '@portal/connectors/ldap/server';
import { normalizeUsername } from '@portal/domain/accounts';
import { canonicalDn, isUnder } from '@portal/domain/directory-dn';
import {
  type Admission,
  type DirectoryGroup,
  groupAttributes,
  groupFilter,
  GroupGraph,
  isAdmitted,
  isGroup,
  memberAttributes,
} from '@portal/domain/directory-groups';
import {
  attributesOf,
  type DirectoryPerson,
  type FieldSources,
  isSwitchedOff,
  personOf,
  primaryGroupSid,
} from '@portal/domain/directory-person';
import { type KnownAccounts, readKnownAccounts } from './known-accounts.ts';
import { knownGroups } from './known-groups.ts';
import { countStaged, type Stage, stageLost, type StagedPerson, type Standing, stagePeople } from './staging.ts';
import type { StoredLdapConfig } from './stored-ldap-config.ts';
import { userSearch } from './user-search.ts';

export interface DirectoryReading {
  stage: Stage;
  server: LdapServer;
  config: StoredLdapConfig;
  sources: FieldSources;
  /** By which accounts have expired. */
  now: Date;
  signal: AbortSignal;
  /** Told how many people have been read so far. */
  onRead: (people: number) => void;
}

export interface DirectoryRead extends PeopleRead {
  groups: DirectoryGroup[];
  warnings: string[];
}

interface PeopleRead {
  /** How many people the directory has, how many of them may come in, and how many are on the stage: those with something to do. */
  people: number;
  live: number;
  staged: number;
  /** Whether the directory has this person. */
  isRead(directoryId: string): boolean;
  /** Positions of the groups that people whose accounts stay as they are belong to. */
  usedGroups: Set<number>;
  /** Directory ids of all whose account or groups may change; null for everybody. */
  changed: string[] | null;
}

/** People held while the accounts to compare them with are still being read. */
const maxEarly = 50_000;
/** People per part of the stage. */
const partSize = 2_000;

/**
 * Reads the whole directory: first its groups and who is in them, then page by page its people. Those whose account is as they are
 * pass by, the others go onto the stage. Returns when the last page is there; throws an LdapFailure for whatever keeps it from coming.
 */
export async function readDirectory(reading: DirectoryReading): Promise<DirectoryRead> {
  const { server, config, signal, stage } = reading;
  // The database counts its accounts while the directory lists its groups.
  const knowing = knownGroups(stage).then((groups) => readKnownAccounts(stage.scope, groups));
  knowing.catch(() => undefined);
  await using directory = await openDirectory(server, { signal });
  const graph = await readGroups(directory, config.baseDn);
  const { admission, warnings } = await readIncludes(directory, graph, config);
  return { groups: graph.groups, warnings, ...(await readPeople(directory, reading, { graph, admission, knowing })) };
}

const groupSearchAttributes = [...groupAttributes, ...memberAttributes];

async function readGroups(directory: Directory, base: string): Promise<GroupGraph> {
  const graph = new GroupGraph();
  const search = { base, scope: 'sub' as const, filter: groupFilter, attributes: groupSearchAttributes };
  for await (const page of directory.pages(search)) {
    for (const entry of page) await addGroup(directory, graph, entry);
  }
  return graph;
}

async function addGroup(directory: Directory, graph: GroupGraph, entry: LdapEntry): Promise<number> {
  const position = graph.add(entry);
  for (const attribute of memberAttributes) {
    for await (const members of directory.allValues(entry, attribute)) graph.addMembers(position, members);
  }
  return position;
}

/** Entries outside the base that are looked at to find groups of groups. */
const maxForeignReads = 1_000;

/**
 * What the include list names: groups, their nested ones with them, or entries with all below them. Groups may lie outside
 * the base, and then each is read by itself.
 */
async function readIncludes(
  directory: Directory,
  graph: GroupGraph,
  { baseDn, includeDns }: StoredLdapConfig,
): Promise<{ admission: Admission; warnings: string[] }> {
  const admission: Admission = { isOpen: includeDns.length === 0, groups: new Set(), bases: [] };
  const warnings: string[] = [];
  const base = canonicalDn(baseDn);
  let reads = 0;

  async function addForeignGroups(position: number, members: string[]): Promise<void> {
    for (const member of members) {
      const dn = canonicalDn(member);
      if (isUnder(dn, base) || graph.positionOf(dn) !== undefined) continue;
      reads += 1;
      if (reads > maxForeignReads) return;
      const entry = await directory.read(member, groupSearchAttributes);
      if (entry && isGroup(entry)) await addForeignGroup(entry);
    }
  }

  async function addForeignGroup(entry: LdapEntry): Promise<number> {
    const position = graph.add(entry);
    for (const attribute of memberAttributes) {
      for await (const members of directory.allValues(entry, attribute)) {
        graph.addMembers(position, members);
        await addForeignGroups(position, members);
      }
    }
    return position;
  }

  for (const [index, dn] of includeDns.entries()) {
    const canonical = canonicalDn(dn);
    const known = graph.positionOf(canonical);
    if (known !== undefined) {
      admission.groups.add(known);
      continue;
    }
    const entry = await directory.read(dn, groupSearchAttributes);
    if (entry === null) warnings.push(`Entry ${index + 1} of the include list does not exist in the directory.`);
    else if (isGroup(entry)) admission.groups.add(await addForeignGroup(entry));
    else admission.bases.push(canonical);
  }
  if (reads > maxForeignReads)
    warnings.push(`Groups outside the base have too many members outside it; only ${maxForeignReads} were looked at.`);
  return { admission, warnings };
}

async function readPeople(
  directory: Directory,
  { stage, config, sources, now, onRead }: DirectoryReading,
  { graph, admission, knowing }: { graph: GroupGraph; admission: Admission; knowing: Promise<KnownAccounts> },
): Promise<PeopleRead> {
  const excluded = new Set(config.userExcludeList.map(normalizeUsername));
  const toStaged = (entry: LdapEntry): StagedPerson => {
    const person = personOf(entry, sources);
    const dn = canonicalDn(person.dn);
    const groups = graph.groupsOf({ dn, memberOf: entry.values('memberOf'), primaryGroupSid: primaryGroupSid(entry) });
    return { ...person, standing: standingOf(entry, person, isAdmitted(admission, dn, groups)), groups };
  };
  const standingOf = (entry: LdapEntry, { username }: DirectoryPerson, admitted: boolean): Standing => {
    if (username !== null && excluded.has(username)) return 'excluded';
    if (!admitted) return 'outside';
    return isSwitchedOff(entry, now) ? 'switched_off' : 'live';
  };

  /** Whether the person's account is as the directory wants it already. */
  const isUpToDate = (known: KnownAccounts, person: StagedPerson): boolean => {
    const mark = known.marks.get(person.directoryId);
    if (mark === undefined || person.standing !== 'live' || person.hasBadEmail) return false;
    const groupIds = person.groups.map((position) => graph.groups[position]?.directoryId ?? '');
    return mark === known.markOf(person, groupIds);
  };

  // A directory that changes while it is read may show one person on two pages.
  const seen = new Set<string>();
  const usedGroups = new Set<number>();
  const unknown: string[] = [];
  let live = 0;
  let staged = 0;
  let unchanged = 0;
  let waiting: StagedPerson[] = [];
  let parts = 0;
  let storing = Promise.resolve();
  const store = async () => {
    // One part is stored while the next is read; no more than these two are held.
    await storing;
    storing = stagePeople(stage, (parts += 1), waiting);
    storing.catch(() => undefined);
    waiting = [];
  };
  const take = (known: KnownAccounts, person: StagedPerson): void => {
    if (seen.has(person.directoryId)) return;
    seen.add(person.directoryId);
    if (person.standing === 'live') live += 1;
    if (isUpToDate(known, person)) {
      unchanged += 1;
      known.marks.delete(person.directoryId);
      for (const position of person.groups) usedGroups.add(position);
      return;
    }
    const isKnown = known.marks.has(person.directoryId);
    // Who may not come in and has no account is nobody to us.
    if (person.standing !== 'live' && !isKnown) return;
    if (!isKnown) unknown.push(person.directoryId);
    staged += 1;
    waiting.push(person);
  };

  let known: KnownAccounts | null = null;
  let early: StagedPerson[] = [];
  let isKnowing = true;
  knowing.then(
    () => (isKnowing = false),
    () => (isKnowing = false),
  );
  const takeAll = async (people: StagedPerson[]) => {
    known ??= await knowing;
    for (const person of people) {
      take(known, person);
      if (waiting.length >= partSize) await store();
    }
    onRead(seen.size);
  };
  try {
    for await (const page of directory.pages({ ...userSearch(directory, config), attributes: attributesOf(sources) })) {
      early.push(...page.map(toStaged));
      // The first pages come while the database is still counting.
      if (isKnowing && early.length < maxEarly) continue;
      await takeAll(early);
      early = [];
    }
    await takeAll(early);
    if (waiting.length > 0) await store();
    await storing;
  } finally {
    // Whatever comes next must not meet a part that is still on its way.
    await storing.catch(() => undefined);
  }
  // What a crash of the database took away in the meantime would look like people who left.
  if (staged > 0 && (await countStaged(stage)) !== staged) throw stageLost();
  const { marks } = await knowing;
  return {
    people: seen.size,
    live,
    staged,
    isRead: (directoryId) => seen.has(directoryId),
    usedGroups,
    changed: unchanged === 0 ? null : [...marks.keys(), ...unknown],
  };
}
