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

export interface DirectoryRead {
  groups: DirectoryGroup[];
  /** How many people are on the stage, and how many of them may come in. */
  people: number;
  live: number;
  warnings: string[];
}

/** People per part of the stage. */
const partSize = 2_000;

/**
 * Reads the whole directory: first its groups and who is in them, then page by page its people, onto the stage. Returns when
 * the last page is there; throws an LdapFailure for whatever keeps it from coming.
 */
export async function readDirectory(reading: DirectoryReading): Promise<DirectoryRead> {
  const { server, config, signal } = reading;
  await using directory = await openDirectory(server, { signal });
  const graph = await readGroups(directory, config.baseDn);
  const { admission, warnings } = await readIncludes(directory, graph, config);
  return { groups: graph.groups, warnings, ...(await readPeople(directory, reading, graph, admission)) };
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
  graph: GroupGraph,
  admission: Admission,
): Promise<{ people: number; live: number }> {
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

  // A directory that changes while it is read may show one person on two pages.
  const seen = new Set<string>();
  let live = 0;
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
  try {
    for await (const page of directory.pages({ ...userSearch(directory, config), attributes: attributesOf(sources) })) {
      for (const entry of page) {
        const person = toStaged(entry);
        if (seen.has(person.directoryId)) continue;
        seen.add(person.directoryId);
        if (person.standing === 'live') live += 1;
        waiting.push(person);
      }
      onRead(seen.size);
      if (waiting.length >= partSize) await store();
    }
    if (waiting.length > 0) await store();
    await storing;
  } finally {
    // Whatever comes next must not meet a part that is still on its way.
    await storing.catch(() => undefined);
  }
  // What a crash of the database took away in the meantime would look like people who left.
  if ((await countStaged(stage)) !== seen.size) throw stageLost();
  return { people: seen.size, live };
}
