import { openDirectory } from '@portal/connectors/ldap/directory';
import type { LdapServer } from '@portal/connectors/ldap/server';
import { attributesOf, type FieldSources } from '@portal/domain/directory-person';
import type { TenantCtx } from '../run/context.ts';
import { recallLastReading, rulesOf } from './last-reading.ts';
import { type News, PeopleReader } from './people-reader.ts';
import { readGroups } from './read-groups.ts';
import { countStaged, type Stage, stageLost } from './staging.ts';
import type { StoredLdapConfig } from './stored-ldap-config.ts';
import { userSearch } from './user-search.ts';

export interface DirectoryReading {
  ctx: TenantCtx;
  stage: Stage;
  server: LdapServer;
  config: StoredLdapConfig;
  sources: FieldSources;
  /** By which accounts have expired. */
  now: Date;
  signal: AbortSignal;
  /** Told how many people have been read so far, and about how many there are: that shows only at the end. */
  onRead: (people: number, expected: number) => void;
}

export interface DirectoryRead {
  /** How many people the directory has, how many of them may come in, and how many are on the stage: those with something to do. */
  people: number;
  live: number;
  staged: number;
  warnings: string[];
  /** The sum over what is kept here, as it was before anything was compared with it. */
  importedSum: bigint;
  /** What differs from the last reading; null when nothing does, and all is as that one left it. */
  news: News | null;
}

/**
 * Reads the whole directory: first its groups and who is in them, then page by page its people. Those who are as the last reading
 * left them pass by, the others go onto the stage. Returns when the last page is there; throws an LdapFailure for whatever keeps it
 * from coming.
 */
export async function readDirectory(reading: DirectoryReading): Promise<DirectoryRead> {
  const { ctx, server, config, sources, signal, stage, onRead } = reading;
  // The database looks up what it has while the directory lists its groups.
  const recalling = recallLastReading(ctx);
  recalling.catch(() => undefined);
  await using directory = await openDirectory(server, { signal });
  const groups = await readGroups(directory, config);
  const search = userSearch(directory, config);
  const rules = rulesOf(ctx, config, { filter: search.filter, sources });

  await using people = new PeopleReader(reading, { groups, rules, recalling });
  for await (const page of directory.pages({ ...search, attributes: attributesOf(sources) })) {
    await people.take(page);
    onRead(people.count, people.expected);
  }
  await people.finish();
  onRead(people.count, people.expected);
  const { count, live, staged } = people;
  // What a crash of the database took away in the meantime would look like people who left.
  if (staged > 0 && (await countStaged(stage)) !== staged) throw stageLost();
  const { importedSum } = await recalling;
  return { people: count, live, staged, warnings: groups.warnings, importedSum, news: await people.news() };
}
