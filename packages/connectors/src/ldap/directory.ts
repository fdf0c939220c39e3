import { type ConnectionOptions, LdapConnection, type SearchAnswer } from './connection.ts';
import type { LdapEntry } from './entry.ts';
import { LdapError, resultCode } from './ldap-error.ts';
import type { LdapServer } from './server.ts';

export interface LdapSearch {
  base: string;
  scope: 'sub' | 'one' | 'base';
  /** RFC 4515; escape foreign values with `escapeFilterValue`. An invalid filter throws a SyntaxError. */
  filter: string;
  /** An empty list requests all attributes except the operational ones. */
  attributes: string[];
  /** Entries per page; default 500. */
  pageSize?: number | undefined;
}

export type ServerType = 'active-directory' | 'openldap' | 'other';

/** A signed-in connection to a directory server. Every call throws an LdapError or the reason of an aborted signal. */
export interface Directory extends AsyncDisposable {
  readonly serverType: ServerType;
  /**
   * Returns the entries found, page by page (RFC 2696). Requests the next page while the caller works on the current one, so at
   * most two pages are in memory. Only one paged search runs at a time; `read` and `allValues` may run in between.
   */
  pages(search: LdapSearch): AsyncGenerator<LdapEntry[]>;
  /** Returns the entry of this DN, or null if the bind account sees none. */
  read(dn: string, attributes: string[]): Promise<LdapEntry | null>;
  /**
   * Returns all values of a requested attribute, a few hundred at a time. Active Directory sends the values of a large group 1,500 at
   * a time (`member;range=0-1499`); this method fetches the rest.
   */
  allValues(entry: LdapEntry, attribute: string): AsyncGenerator<string[]>;
}

const defaultPageSize = 500;
// Against servers that never stop sending pages
const maxEmptyPages = 1_000;
const maxEntries = 5_000_000;

/** Connects, encrypts and binds; throws an LdapError, or the reason of an aborted signal. */
export async function openDirectory(server: LdapServer, options: ConnectionOptions = {}): Promise<Directory> {
  const connection = await LdapConnection.open(server, options);
  try {
    await signIn(connection, server);
    const serverType = await findServerType(connection);
    const read = entryReader(connection);
    let isPaging = false;

    return {
      serverType,
      async *pages(search) {
        if (isPaging) throw new Error('A paged search is under way; a server supports only one per connection.');
        isPaging = true;
        try {
          yield* pages(connection, serverType, search);
        } finally {
          isPaging = false;
        }
      },
      read,
      allValues: (entry, attribute) => allValues(connection, read, entry, attribute),
      [Symbol.asyncDispose]: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function signIn(connection: LdapConnection, { bindDn, bindPassword }: LdapServer): Promise<void> {
  const dn = bindDn?.trim() ?? '';
  const password = bindPassword?.reveal() ?? '';
  const isAnonymous = dn === '' || password === '';
  const result = await connection.bind(isAnonymous ? '' : dn, isAnonymous ? '' : password);
  if (result.code !== resultCode.success) throw connection.refusal(result, 'bind');
}

/** Reads the server type from the root entry (RFC 4512 section 5.1), if the server shows one. */
async function findServerType(connection: LdapConnection): Promise<ServerType> {
  const { entries } = await connection.search({
    base: '',
    scope: 'base',
    filter: '(objectClass=*)',
    attributes: ['objectClass', 'supportedCapabilities'],
  });
  const root = entries[0];
  // LDAP_CAP_ACTIVE_DIRECTORY_OID, and the OID of Active Directory Lightweight Directory Services
  const capabilities = root?.values('supportedCapabilities') ?? [];
  if (capabilities.some((oid) => /^1\.2\.840\.113556\.1\.4\.(800|1851)$/.test(oid))) return 'active-directory';
  return root?.values('objectClass').includes('OpenLDAProotDSE') ? 'openldap' : 'other';
}

async function* pages(
  connection: LdapConnection,
  serverType: ServerType,
  { pageSize = defaultPageSize, ...search }: LdapSearch,
): AsyncGenerator<LdapEntry[]> {
  const ask = (cookie: Buffer): Promise<SearchAnswer> => {
    const answer = connection.search({ ...search, page: { size: pageSize, cookie } });
    // The request may fail before the loop below awaits it
    answer.catch(() => undefined);
    return answer;
  };
  let emptyPages = 0;
  let entryCount = 0;
  let lastFirstDn: string | undefined;
  let next: Promise<SearchAnswer> | null = ask(Buffer.alloc(0));
  try {
    while (next !== null) {
      const { result, entries, references, cookie, bytes }: SearchAnswer = await next;
      if (result.code !== resultCode.success) throw connection.refusal(result, 'search');
      refuseReferences(connection, serverType, references);
      emptyPages = entries.length === 0 ? emptyPages + 1 : 0;
      entryCount += entries.length;
      const firstDn = entries[0]?.dn;
      const isRepeated = firstDn !== undefined && firstDn === lastFirstDn;
      if (isRepeated || emptyPages > maxEmptyPages || entryCount > maxEntries) {
        throw new LdapError('protocol', connection.address, 'sends pages without end.');
      }
      lastFirstDn = firstDn ?? lastFirstDn;
      next = cookie.length === 0 ? null : ask(cookie);
      if (entries.length > 0) yield entries;
      connection.release(bytes);
    }
  } finally {
    // A caller that stops early may start another search, and the server supports only one at a time
    await next?.catch(() => undefined);
  }
}

/**
 * Throws if a successful search refers to other servers for a part of its result. That part may hold people, who would then count
 * as removed. Ignores the DNS and configuration partitions that Active Directory names at the root of every domain: they hold no
 * people.
 */
function refuseReferences(connection: LdapConnection, serverType: ServerType, references: string[]): void {
  const hiding = references.filter(
    (url) =>
      serverType !== 'active-directory' ||
      !/^ldaps?:\/\/[^/]*\/(DC=DomainDnsZones|DC=ForestDnsZones|CN=Configuration|CN=Schema),/i.test(url),
  );
  if (hiding.length === 0) return;
  throw new LdapError(
    'protocol',
    connection.address,
    serverType === 'active-directory'
      ? 'leaves a part of the base DN, such as a child domain, to another server; enter a base DN within one domain, or use the global catalog (port 3268 or 3269).'
      : 'leaves a part of the base DN to another server; enter a base DN that it holds in full.',
  );
}

/** Reads single entries. Each occupies memory until the next one is read. */
function entryReader(connection: LdapConnection): Directory['read'] {
  let held = 0;
  return async (dn, attributes) => {
    const { result, entries, bytes } = await connection.search({
      base: dn,
      scope: 'base',
      filter: '(objectClass=*)',
      attributes,
    });
    connection.release(held);
    held = bytes;
    if (result.code === resultCode.noSuchObject || result.code === resultCode.invalidDnSyntax) return null;
    if (result.code !== resultCode.success) throw connection.refusal(result, 'search');
    return entries[0] ?? null;
  };
}

/** The range of a ranged attribute in an entry: its attribute name and the start of the next range, null after the last. */
function portion(entry: LdapEntry, attribute: string): { name: string; next: number | null } | null {
  const prefix = `${attribute.toLowerCase()};range=`;
  const name = entry.attributes().find((candidate) => candidate.startsWith(prefix));
  if (name === undefined) return null;
  const [, last = '*'] = name.slice(prefix.length).split('-');
  return { name, next: last === '*' ? null : Number(last) + 1 };
}

async function* allValues(
  connection: LdapConnection,
  read: Directory['read'],
  entry: LdapEntry,
  attribute: string,
): AsyncGenerator<string[]> {
  let found = portion(entry, attribute);
  if (found === null) {
    yield* entry.valuePortions(attribute);
    return;
  }
  let source = entry;
  for (;;) {
    const { name, next } = found;
    yield* source.valuePortions(name);
    if (next === null) return;
    const rest = await read(entry.dn, [`${attribute};range=${next}-*`]);
    found = rest === null ? null : portion(rest, attribute);
    const isNextRange = found !== null && (found.next === null || found.next > next);
    if (rest === null || found === null || !isNextRange) {
      throw new LdapError('protocol', connection.address, 'changed a group while it was read; try again.');
    }
    source = rest;
  }
}
