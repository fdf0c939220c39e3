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
  /** Decides which accounts have expired. */
  now: Date;
  signal: AbortSignal;
  /** Counts the memory that the reading uses. */
  memory: ReadingMemory;
  /** Called with the number of people read so far and an estimate of all; the exact total is known only at the end. */
  onRead: (people: number, expected: number) => void;
}

export interface DirectoryRead {
  /** Number of people in the directory; all are on the stage. */
  people: number;
  /** Number of people who may have an account. */
  live: number;
  warnings: string[];
  /** The groups of the directory. */
  groups: DirectoryGroup[];
  /** The imported groups that the portal has stored. */
  knownGroups: KnownGroup[];
  /** Whether the directory has this person. */
  isRead(directoryId: string): boolean;
}

/**
 * Reads the whole directory: first its groups and their members, then page by page its people, who go onto the stage. Throws an
 * LdapError if it cannot read every page, and the errors of `memory`.
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
  // People lost in a crash of the database would look like people who left the directory.
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
