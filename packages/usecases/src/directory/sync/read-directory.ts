import { isNotNull, sql } from 'drizzle-orm';
import { openDirectory } from '@portal/connectors/ldap/directory';
import type { LdapServer } from '@portal/connectors/ldap/server';
import { users } from '@portal/db/schema/accounts/users';
import { groups } from '@portal/db/schema/modules';
import type { DirectoryGroup } from '@portal/domain/directory/groups';
import { attributesOf, type FieldSources } from '@portal/domain/directory/person';
import type { KnownGroup } from '@portal/domain/directory/plan';
import type { TenantContext } from '@portal/platform/context';
import type { StoredLdapConfig } from '../stored-ldap-config.ts';
import { userSearch } from '../user-search.ts';
import { PeopleReader } from './people-reader.ts';
import { readGroups } from './read-groups.ts';
import type { ReadingMemory } from './reading-memory.ts';
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
  /** How many people the directory has, all of them on the stage, and how many of them may come in. */
  people: number;
  live: number;
  warnings: string[];
  /** The groups of the directory. */
  groups: DirectoryGroup[];
  /** Those of them and others that are kept here already. */
  knownGroups: KnownGroup[];
  /** Whether the directory has this person. */
  isRead(directoryId: string): boolean;
}

/**
 * Reads the whole directory: first its groups and who is in them, then page by page its people, who go onto the stage. Throws an
 * LdapError for whatever keeps the last page from coming, and what its memory throws.
 */
export async function readDirectory(reading: DirectoryReading): Promise<DirectoryRead> {
  const { ctx, server, config, sources, signal, stage, memory, onRead } = reading;
  const { knownGroups, active } = await findKnown(ctx);
  await using directory = await openDirectory(server, { signal, onHeld: (bytes) => memory.take(bytes) });
  const found = await readGroups(directory, reading);

  await using reader = new PeopleReader(reading, found);
  for await (const page of directory.pages({ ...userSearch(directory, config), attributes: attributesOf(sources) })) {
    await reader.take(page);
    onRead(reader.count, Math.max(reader.count, active));
  }
  await reader.finish();
  const people = reader.count;
  onRead(people, people);
  // What a crash of the database took away in the meantime would look like people who left.
  if (people > 0 && (await countStaged(stage)) !== people) throw stageLost();
  const { live } = reader;
  const { groups: ofDirectory, warnings } = found;
  return {
    people,
    live,
    warnings,
    groups: ofDirectory,
    knownGroups,
    isRead: (directoryId) => reader.isRead(directoryId),
  };
}

/** The tenant's groups that came from its directory, and how many imported accounts are active. */
const findKnown = (ctx: TenantContext) =>
  ctx.tx(async (tx) => ({
    knownGroups: await tx
      .select({ id: groups.id, directoryId: sql<string>`${groups.directoryId}`, internalName: groups.internalName })
      .from(groups)
      .where(isNotNull(groups.directoryId)),
    active: await tx.$count(users, sql`${users.isActive} and ${users.ldapDn} is not null`),
  }));
