import { openDirectory } from '@portal/connectors/ldap/directory';
import type { LdapServer } from '@portal/connectors/ldap/server';
import type { DirectoryGroup } from '@portal/domain/directory/groups';
import { attributesOf, type FieldSources } from '@portal/domain/directory/person';
import { type KnownGroup, planGroups } from '@portal/domain/directory/plan';
import type { TenantContext } from '@portal/platform/context';
import type { StoredLdapConfig } from '../stored-ldap-config.ts';
import { userSearch } from '../user-search.ts';
import { PeopleReader } from './people-reader.ts';
import { readGroups } from './read-groups.ts';
import type { ReadingMemory } from './reading-memory.ts';
import { loadSnapshot, type NewSnapshot, settingsHashOf } from './snapshot.ts';
import { countStaged, type Stage, stageLost } from './stage.ts';

export interface DirectoryReading {
  ctx: TenantContext;
  stage: Stage;
  server: LdapServer;
  config: StoredLdapConfig;
  sources: FieldSources;
  /** By which accounts have expired. */
  now: Date;
  signal: AbortSignal;
  /** What is kept of it counts here. */
  memory: ReadingMemory;
  /** Told how many people have been read so far, and about how many there are: that shows only at the end. */
  onRead: (people: number, expected: number) => void;
}

export interface DirectoryRead {
  /** How many people the directory has, and how many of them may come in. */
  people: number;
  live: number;
  warnings: string[];
  /** What differs from the snapshot; null when nothing does, and all is as it says. */
  delta: Delta | null;
}

/** How the directory differs from what the last sync run left behind. */
export interface Delta extends Omit<NewSnapshot, 'groupIds'> {
  /** The groups of the directory. */
  groups: DirectoryGroup[];
  /** Those of them and others that are kept here already. */
  knownGroups: KnownGroup[];
  /** Whether the directory has this person. */
  isRead(directoryId: string): boolean;
}

/**
 * Reads the whole directory: first its groups and who is in them, then page by page its people. Those for whom the snapshot
 * vouches pass by, the others go onto the stage. Returns when the last page is there; throws an LdapError for whatever keeps
 * it from coming, and what its memory throws.
 */
export async function readDirectory(reading: DirectoryReading): Promise<DirectoryRead> {
  const { ctx, server, config, sources, signal, stage, memory, onRead } = reading;
  await using directory = await openDirectory(server, { signal, onHeld: (bytes) => memory.take(bytes) });
  const search = userSearch(directory, config);
  const settingsHash = settingsHashOf(ctx, config, { filter: search.filter, sources });
  // The database compares what it has while the directory lists its groups.
  const loading = loadSnapshot(ctx, settingsHash);
  loading.catch(() => undefined);
  const found = await readGroups(directory, reading);

  await using reader = new PeopleReader(reading, found, loading);
  for await (const page of directory.pages({ ...search, attributes: attributesOf(sources) })) {
    await reader.take(page);
    onRead(reader.count, reader.expected);
  }
  await reader.finish();
  onRead(reader.count, reader.expected);
  const { staged, changed } = reader;
  // What a crash of the database took away in the meantime would look like people who left.
  if (staged > 0 && (await countStaged(stage)) !== staged) throw stageLost();

  const { snapshot, groups: knownGroups } = await loading;
  const known = new Set(knownGroups.map(({ directoryId }) => directoryId));
  const { rename, remove } = planGroups(
    knownGroups,
    found.groups.filter(({ directoryId }) => known.has(directoryId)),
  );
  const isSame =
    changed?.length === 0 && snapshot?.groupsDigest === found.digest && rename.length === 0 && remove.length === 0;
  const delta: Delta = {
    settingsHash,
    groupsDigest: found.digest,
    changed,
    staged,
    groups: found.groups,
    knownGroups,
    isRead: (directoryId) => reader.isRead(directoryId),
  };
  return { people: reader.count, live: reader.live, warnings: found.warnings, delta: isSame ? null : delta };
}
