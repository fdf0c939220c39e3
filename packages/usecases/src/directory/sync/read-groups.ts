import { entryOverheadBytes } from '@portal/connectors/ldap/connection';
import type { Directory } from '@portal/connectors/ldap/directory';
import type { LdapEntry } from '@portal/connectors/ldap/entry';
import { canonicalDn, isUnder } from '@portal/domain/directory/dn';
import {
  type Admission,
  type DirectoryGroup,
  groupAttributes,
  groupFilter,
  GroupGraph,
  isGroup,
  memberAttributes,
} from '@portal/domain/directory/groups';
import { yieldEvery } from '@portal/platform/yield-every';
import { directoryIdOf } from '../directory-id.ts';
import type { StoredLdapConfig } from '../stored-ldap-config.ts';
import type { DirectoryReading } from './read-directory.ts';

/** The groups that a directory returned. */
export interface GroupsRead {
  groups: DirectoryGroup[];
  warnings: string[];
  /** Who is in which group, and whom the include list admits; computed on first use. */
  membership(): Promise<Membership>;
}

export interface Membership {
  graph: GroupGraph;
  admission: Admission;
}

const searchAttributes = [...groupAttributes, ...memberAttributes];
/** Maximum bytes of groups whose members are parsed later, because most readings find no changes and need no members. */
const maxDeferredBytes = 16 * 1024 * 1024;

type AddMembers = (position: number, members: string[]) => Promise<void>;

/** Reads all groups below the base and the entries of the include list. Throws an LdapError, and the errors of `memory`. */
export async function readGroups(
  directory: Directory,
  { config, memory, signal }: Pick<DirectoryReading, 'config' | 'memory' | 'signal'>,
): Promise<GroupsRead> {
  const yieldIfDue = yieldEvery(signal);
  const graph = new GroupGraph((bytes) => memory.take(bytes));
  const deferred: { position: number; entry: LdapEntry }[] = [];
  let deferredBytes = 0;
  let whole: Promise<GroupGraph> | undefined;
  const wholeGraph = (): Promise<GroupGraph> => (whole ??= addDeferred());
  async function addDeferred(): Promise<GroupGraph> {
    for (const { position, entry } of deferred.splice(0)) {
      for (const attribute of memberAttributes)
        for (const members of entry.valuePortions(attribute)) await add(position, members);
    }
    return graph;
  }
  const add: AddMembers = async (position, members) => {
    await yieldIfDue();
    graph.addMembers(position, members);
  };

  const search = { base: config.baseDn, scope: 'sub' as const, filter: groupFilter, attributes: searchAttributes };
  for await (const page of directory.pages(search)) {
    for (const entry of page) {
      await yieldIfDue();
      const position = graph.add(entry, directoryIdOf(entry));
      deferredBytes += entry.raw.length + entryOverheadBytes;
      if (deferredBytes < maxDeferredBytes && !isInPortions(entry)) {
        memory.take(entry.raw.length + entryOverheadBytes);
        deferred.push({ position, entry: entry.copy() });
        continue;
      }
      await addMembers(directory, add, position, entry);
    }
  }
  const included =
    config.includeDns.length === 0
      ? { admission: { isOpen: true, groups: new Set<number>(), bases: [] }, warnings: [] }
      : await readIncludes(directory, { graph: await wholeGraph(), add }, config);
  return {
    groups: graph.groups,
    warnings: included.warnings,
    membership: async () => ({ graph: await wholeGraph(), admission: included.admission }),
  };
}

/** Whether the server sent only some of the members and the rest must be fetched. */
const isInPortions = (entry: LdapEntry): boolean => entry.attributes().some((name) => name.includes(';range='));

async function addMembers(
  directory: Directory,
  add: AddMembers,
  position: number,
  entry: LdapEntry,
  onMembers: (members: string[]) => void = () => undefined,
): Promise<void> {
  for (const attribute of memberAttributes) {
    for await (const members of directory.allValues(entry, attribute)) {
      await add(position, members);
      onMembers(members);
    }
  }
}

/** Maximum entries outside the base to read in search of nested groups. */
const maxForeignReads = 1_000;

/**
 * Resolves the include list: groups with their nested groups, or entries with everything below them. Groups outside the base are read
 * one by one.
 */
async function readIncludes(
  directory: Directory,
  { graph, add }: { graph: GroupGraph; add: AddMembers },
  { baseDn, includeDns }: StoredLdapConfig,
): Promise<{ admission: Admission; warnings: string[] }> {
  const admission: Admission = { isOpen: false, groups: new Set(), bases: [] };
  const warnings: string[] = [];
  const base = canonicalDn(baseDn);
  /** Names of members outside the base, which may be groups. Queues only names, so that memory holds one group at a time. */
  const waiting: string[] = [];
  const seen = new Set<string>();

  function queueForeign(members: string[]): void {
    for (const member of members) {
      if (seen.size > maxForeignReads) return;
      const dn = canonicalDn(member);
      if (isUnder(dn, base) || graph.positionOf(dn) !== undefined || seen.has(dn)) continue;
      seen.add(dn);
      if (seen.size <= maxForeignReads) waiting.push(member);
    }
  }

  async function addForeignGroup(entry: LdapEntry): Promise<number> {
    const position = graph.add(entry, directoryIdOf(entry));
    await addMembers(directory, add, position, entry, queueForeign);
    return position;
  }

  async function addWaiting(): Promise<void> {
    for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
      if (graph.positionOf(canonicalDn(member)) !== undefined) continue;
      const entry = await directory.read(member, searchAttributes);
      if (entry && isGroup(entry)) await addForeignGroup(entry);
    }
  }

  for (const [index, dn] of includeDns.entries()) {
    const canonical = canonicalDn(dn);
    const known = graph.positionOf(canonical);
    if (known !== undefined) {
      admission.groups.add(known);
      continue;
    }
    const entry = await directory.read(dn, searchAttributes);
    if (entry === null) warnings.push(`Entry ${index + 1} of the include list does not exist in the directory.`);
    else if (isGroup(entry)) {
      admission.groups.add(await addForeignGroup(entry));
      await addWaiting();
    } else admission.bases.push(canonical);
  }
  if (seen.size > maxForeignReads)
    warnings.push(
      `Groups outside the base have too many members outside it; only ${maxForeignReads} members were read.`,
    );
  return { admission, warnings };
}
