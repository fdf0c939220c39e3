import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, createSecureContext, TLSSocket } from 'node:tls';
import { type LdapMessage, MessageSplitter, parseMessage } from '@portal/connectors/ldap/messages';
import {
  bindResponse,
  extendedResponse,
  type FilterNode,
  parseBind,
  parseExtendedOid,
  parseSearch,
  request,
  searchDone,
  searchEntry,
  type SearchFields,
  searchReference,
  startTlsOid,
} from './ldap-wire.ts';
import { caCertificatePem, type ServerCertificate, serverCertificatePem, serverKeyPem } from './tls.ts';

/*
 * A stand-in for Active Directory, which cannot be installed here. It speaks LDAP over a socket and has what OpenLDAP
 * lacks: binary objectGUID and objectSid, userAccountControl, ranged values, computed memberOf, the sub-codes of a
 * refused bind, a page limit, references at the root of the domain. Follows Microsoft's [MS-ADTS].
 */

type Value = string | Buffer;

/** An object to put into the tree, which adds objectGUID, objectSid, memberOf and distinguishedName. */
export interface AdObject {
  dn: string;
  attributes: Record<string, Value | Value[]>;
  /** An object with a password can bind. */
  password?: string;
}

export interface ActiveDirectoryOptions {
  objects?: Iterable<AdObject>;
  /** Port of `ldap://`; default any free port. */
  port?: number;
  /** Makes the binary id of a new object; random by default. Use it for a domain with the same ids after a restart. */
  makeGuid?: (dn: string) => Buffer;
  /** Default `DC=corp,DC=example`. */
  baseDn?: string;
  /** Default `localhost`. */
  certificate?: ServerCertificate;
  /** Default true. */
  offersStartTls?: boolean;
  /** Maximum entries of a page, and of an answer without pages; default 1000 as in MaxPageSize. */
  maxPageSize?: number;
  /** Maximum values of an attribute at a time; default 1500 as in MaxValRange. */
  maxValueRange?: number;
  /** Sends a page without entries and with a cookie before each page, as a server may after much filtering. */
  sendsEmptyPages?: boolean;
  /** Additional references beside the usual three of a domain's root, as LDAP URLs. */
  references?: string[];
}

export interface BindAttempt {
  name: string;
  hadPassword: boolean;
  code: number;
}

export interface TestActiveDirectory {
  /** `ldap://` */
  url: string;
  ldapsUrl: string;
  baseDn: string;
  adminDn: string;
  adminPassword: string;
  /** The authority that issued the server's certificate. */
  caCertificatePem: string;
  /** In order of arrival. */
  binds: BindAttempt[];
  openConnections(): number;
  /** Adds an object, or replaces the one with that DN and keeps its ids. */
  put(object: AdObject): void;
  /** Replaces attributes; an empty list removes one. */
  modify(dn: string, attributes: Record<string, Value | Value[]>): void;
  delete(dn: string): void;
  /** Renames or moves an object; it keeps its ids, and groups follow. */
  rename(dn: string, newDn: string): void;
  /** The binary id of an object. */
  objectGuid(dn: string): Buffer;
  stop(): Promise<void>;
}

interface StoredObject {
  dn: string;
  password: string | undefined;
  // By lower-case name
  attributes: Map<string, { name: string; values: Buffer[] }>;
}

interface Session {
  isBound: boolean;
  // The remaining entries of a paged search, by its cookie
  pages: Map<string, StoredObject[]>;
}

const domainUsersRid = 513;
const adminPassword = 'domain administrator';

const toBuffers = (value: Value | Value[]): Buffer[] =>
  (Array.isArray(value) ? value : [value]).map((one) => (typeof one === 'string' ? Buffer.from(one) : one));

/** A DN as a key: lower case, without space around separators. */
const dnKey = (dn: string): string => dn.replaceAll(/\s*(?<!\\),\s*/g, ',').toLowerCase();

const parentKey = (key: string): string => /(?<!\\),(.*)$/s.exec(key)?.[1] ?? '';

/** A security id of the domain, as bytes ([MS-DTYP] section 2.4.2.2). */
const sid = (rid: number): Buffer => {
  const bytes = Buffer.from('01050000000000051500000011111111222222223333333300000000', 'hex');
  bytes.writeUInt32LE(rid, bytes.length - 4);
  return bytes;
};

/** Units of 100 ns since 1601, as in accountExpires and other times of Active Directory. */
export const fileTime = (at: Date): string => String((BigInt(at.getTime()) + 11_644_473_600_000n) * 10_000n);

/** A user below `CN=Users` who can bind with `password`. */
export const adUser = (
  sAMAccountName: string,
  {
    baseDn = 'DC=corp,DC=example',
    parent = `CN=Users,${baseDn}`,
    password = 'secret',
    ...attributes
  }: Record<string, Value | Value[]> & { baseDn?: string; parent?: string; password?: string } = {},
): AdObject => ({
  dn: `CN=${sAMAccountName.replaceAll(/[,+"\\<>;=]|^[ #]| $/g, (character) => `\\${character}`)},${parent}`,
  password,
  attributes: {
    objectClass: ['top', 'person', 'organizationalPerson', 'user'],
    objectCategory: 'person',
    sAMAccountName,
    cn: sAMAccountName,
    displayName: `Person ${sAMAccountName}`,
    mail: `${sAMAccountName}@corp.example`,
    // NORMAL_ACCOUNT
    userAccountControl: '512',
    accountExpires: '9223372036854775807',
    primaryGroupID: String(domainUsersRid),
    ...attributes,
  },
});

/** A group below `CN=Users`. */
export const adGroup = (
  name: string,
  member: string[],
  { baseDn = 'DC=corp,DC=example', ...attributes }: Record<string, Value | Value[]> & { baseDn?: string } = {},
): AdObject => ({
  dn: `CN=${name},CN=Users,${baseDn}`,
  attributes: {
    objectClass: ['top', 'group'],
    objectCategory: 'group',
    sAMAccountName: name,
    cn: name,
    groupType: '-2147483646',
    member,
    ...attributes,
  },
});

class Tree {
  readonly baseDn: string;
  readonly #objects = new Map<string, StoredObject>();
  // The keys of the groups an object is a direct member of
  readonly #groupsOf = new Map<string, Set<string>>();
  #nextRid = 1_104;

  readonly #makeGuid: (dn: string) => Buffer;

  constructor(baseDn: string, makeGuid: (dn: string) => Buffer) {
    this.#makeGuid = makeGuid;
    this.baseDn = baseDn;
    const container = (dn: string, objectClass: string, name: string) =>
      this.put({ dn, attributes: { objectClass: ['top', objectClass], [name]: dn.replace(/^[^=]*=([^,]*).*/, '$1') } });
    container(baseDn, 'domainDNS', 'dc');
    container(`CN=Users,${baseDn}`, 'container', 'cn');
    const users = adGroup('Domain Users', [], { baseDn, objectSid: sid(domainUsersRid) });
    this.put({ ...users, attributes: { ...users.attributes, member: [] } });
    this.put(adUser('Administrator', { baseDn, password: adminPassword }));
  }

  get(dn: string): StoredObject | undefined {
    return this.#objects.get(dnKey(dn));
  }

  must(dn: string): StoredObject {
    const object = this.get(dn);
    if (object === undefined) throw new Error(`There is no ${dn}`);
    return object;
  }

  put({ dn, attributes, password }: AdObject): void {
    const before = this.get(dn);
    const object: StoredObject = { dn, password, attributes: new Map() };
    this.#unlink(dnKey(dn), before?.attributes.get('member')?.values ?? []);
    const id = (name: string, make: () => Buffer) => before?.attributes.get(name.toLowerCase())?.values ?? [make()];
    this.#set(
      object,
      'objectGUID',
      id('objectGUID', () => this.#makeGuid(dn)),
    );
    if (attributes['sAMAccountName'] !== undefined) {
      this.#set(
        object,
        'objectSid',
        id('objectSid', () => sid(this.#nextRid++)),
      );
    }
    this.#set(object, 'distinguishedName', [Buffer.from(dn)]);
    this.#objects.set(dnKey(dn), object);
    for (const [name, value] of Object.entries(attributes)) this.#set(object, name, toBuffers(value));
  }

  modify(dn: string, attributes: Record<string, Value | Value[]>): void {
    const object = this.must(dn);
    for (const [name, value] of Object.entries(attributes)) this.#set(object, name, toBuffers(value));
  }

  delete(dn: string): void {
    const { attributes } = this.must(dn);
    this.#unlink(dnKey(dn), attributes.get('member')?.values ?? []);
    for (const group of this.#groupsOf.get(dnKey(dn)) ?? []) this.#replaceMember(group, dn, null);
    this.#objects.delete(dnKey(dn));
    this.#groupsOf.delete(dnKey(dn));
  }

  rename(dn: string, newDn: string): void {
    const key = dnKey(dn);
    const moved = [...this.#objects.values()].filter(
      (object) => dnKey(object.dn) === key || dnKey(object.dn).endsWith(`,${key}`),
    );
    for (const object of moved) {
      const from = object.dn;
      const to = `${from.slice(0, from.length - dn.length)}${newDn}`;
      const members = object.attributes.get('member')?.values ?? [];
      this.#unlink(dnKey(from), members);
      for (const group of this.#groupsOf.get(dnKey(from)) ?? []) this.#replaceMember(group, from, to);
      this.#objects.delete(dnKey(from));
      object.dn = to;
      this.#objects.set(dnKey(to), object);
      this.#set(object, 'distinguishedName', [Buffer.from(to)]);
      if (members.length > 0) this.#set(object, 'member', members);
    }
  }

  /** The objects within a scope; null if the base does not exist. */
  within(base: string, scope: SearchFields['scope']): StoredObject[] | null {
    const key = dnKey(base);
    const object = this.#objects.get(key);
    if (object === undefined) return null;
    if (scope === 'base') return [object];
    return [...this.#objects].flatMap(([candidate, found]) =>
      (scope === 'one' ? parentKey(candidate) === key : candidate === key || candidate.endsWith(`,${key}`))
        ? [found]
        : [],
    );
  }

  named(name: string): StoredObject | undefined {
    const account = name.replace(/^.*\\/, '').toLowerCase();
    const hasName = ({ attributes }: StoredObject, attribute: string) =>
      attributes.get(attribute)?.values[0]?.toString().toLowerCase() === account;
    return (
      this.get(name) ??
      [...this.#objects.values()].find(
        (object) => hasName(object, 'samaccountname') || hasName(object, 'userprincipalname'),
      )
    );
  }

  /** The values of an attribute, including computed ones, with the name in the directory. */
  attribute(object: StoredObject, name: string): { name: string; values: Buffer[] } | undefined {
    if (name.toLowerCase() !== 'memberof') return object.attributes.get(name.toLowerCase());
    const groups = [...(this.#groupsOf.get(dnKey(object.dn)) ?? [])];
    if (groups.length === 0) return undefined;
    return { name: 'memberOf', values: groups.map((key) => Buffer.from(this.#objects.get(key)?.dn ?? key)) };
  }

  #set(object: StoredObject, name: string, values: Buffer[]): void {
    const key = name.toLowerCase();
    if (key === 'member') {
      const group = dnKey(object.dn);
      this.#unlink(group, object.attributes.get('member')?.values ?? []);
      for (const value of values)
        this.#groupsOf.getOrInsertComputed(dnKey(value.toString()), () => new Set()).add(group);
    }
    if (values.length === 0) object.attributes.delete(key);
    else object.attributes.set(key, { name, values });
  }

  #unlink(group: string, members: Buffer[]): void {
    for (const member of members) this.#groupsOf.get(dnKey(member.toString()))?.delete(group);
  }

  #replaceMember(group: string, from: string, to: string | null): void {
    const object = this.#objects.get(group);
    const values = object?.attributes.get('member')?.values ?? [];
    const others = values.filter((value) => dnKey(value.toString()) !== dnKey(from));
    if (object !== undefined) this.#set(object, 'member', to === null ? others : [...others, Buffer.from(to)]);
  }
}

const isBinary = new Set(['objectguid', 'objectsid']);

const fold = (value: string): string => value.toLowerCase();

const isBitRule = (rule: string, bits: bigint, mask: bigint): boolean => {
  if (rule === '1.2.840.113556.1.4.803') return (bits & mask) === mask;
  return rule === '1.2.840.113556.1.4.804' && (bits & mask) !== 0n;
};

function matches(tree: Tree, object: StoredObject, filter: FilterNode): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((inner) => matches(tree, object, inner));
    case 'or':
      return filter.filters.some((inner) => matches(tree, object, inner));
    case 'not':
      return !matches(tree, object, filter.filter);
    case 'present':
      return tree.attribute(object, filter.attribute) !== undefined;
    default: {
      const { values = [] } = tree.attribute(object, filter.attribute) ?? {};
      return values.some((value) => valueMatches(filter, value));
    }
  }
}

function valueMatches(filter: Extract<FilterNode, { attribute: string }>, value: Buffer): boolean {
  const text = fold(value.toString());
  switch (filter.kind) {
    case 'equal':
    case 'approximate':
      return isBinary.has(fold(filter.attribute)) ? value.equals(filter.value) : text === fold(filter.value.toString());
    case 'greaterOrEqual':
      return BigInt(text) >= BigInt(filter.value.toString());
    case 'lessOrEqual':
      return BigInt(text) <= BigInt(filter.value.toString());
    case 'extensible':
      return isBitRule(filter.rule, BigInt(text), BigInt(filter.value.toString()));
    case 'substring': {
      const initial = fold(filter.initial);
      const final = fold(filter.final);
      if (!text.startsWith(initial) || !text.endsWith(final) || text.length < initial.length + final.length)
        return false;
      let at = initial.length;
      for (const part of filter.any.map(fold)) {
        const found = text.indexOf(part, at);
        if (found < 0) return false;
        at = found + part.length;
      }
      return at <= text.length - final.length;
    }
    default:
      return true;
  }
}

/** Starts a stand-in for a domain controller on 127.0.0.1. */
export async function startActiveDirectory(options: ActiveDirectoryOptions = {}): Promise<TestActiveDirectory> {
  const {
    baseDn = 'DC=corp,DC=example',
    certificate = 'localhost',
    offersStartTls = true,
    maxPageSize = 1_000,
    maxValueRange = 1_500,
    sendsEmptyPages = false,
    references = [],
    makeGuid = () => randomBytes(16),
  } = options;
  const tree = new Tree(baseDn, makeGuid);
  for (const object of options.objects ?? []) tree.put(object);
  const adminDn = `CN=Administrator,CN=Users,${baseDn}`;
  const secrets = { key: serverKeyPem, cert: serverCertificatePem(certificate) };
  const binds: BindAttempt[] = [];
  const sockets = new Set<Socket>();

  const bindResult = (name: string, password: string | null): { code: number; diagnostic?: string } => {
    if (password === null) return { code: 7, diagnostic: '00002027: LdapErr: unsupported authentication' };
    if (name === '' && password === '') return { code: 0 };
    // As in a domain that denies a bind that would count as anonymous
    if (password === '') return { code: 53, diagnostic: 'Unauthenticated binds are denied' };
    const refused = (data: string) => ({
      code: 49,
      diagnostic: `80090308: LdapErr: DSID-0C09041C, comment: AcceptSecurityContext error, data ${data}, v4563`,
    });
    const account = tree.named(name);
    if (account === undefined) return refused('525');
    if (account.password !== password) return refused('52e');
    const number = (attribute: string) => BigInt(tree.attribute(account, attribute)?.values[0]?.toString() ?? '0');
    if ((number('userAccountControl') & 2n) !== 0n) return refused('533');
    if (number('lockoutTime') > 0n) return refused('775');
    const expires = number('accountExpires');
    if (expires > 0n && expires < BigInt(fileTime(new Date()))) return refused('701');
    return { code: 0 };
  };

  const rootEntry = (id: number): Buffer =>
    searchEntry(id, '', [
      ['defaultNamingContext', [Buffer.from(baseDn)]],
      ['supportedLDAPVersion', [Buffer.from('3'), Buffer.from('2')]],
      ['supportedCapabilities', ['800', '1670', '1935', '2080'].map((n) => Buffer.from(`1.2.840.113556.1.4.${n}`))],
    ]);

  const selected = (object: StoredObject, wanted: string[]): [name: string, values: Buffer[]][] => {
    const isAll = wanted.length === 0 || wanted.includes('*');
    const names = isAll ? [...object.attributes.keys(), 'memberOf', ...wanted] : wanted;
    return names.flatMap((requested): [string, Buffer[]][] => {
      const [, plain = requested, from, to] = /^(.*);range=(\d+)-(\d+|\*)$/i.exec(requested) ?? [];
      const { name, values } = tree.attribute(object, plain) ?? { name: plain, values: [] };
      if (values.length === 0) return [];
      const first = Number(from ?? 0);
      if (from === undefined && values.length <= maxValueRange) return [[name, values]];
      const last = Math.min(to === undefined || to === '*' ? Infinity : Number(to), first + maxValueRange - 1);
      const isEnd = last >= values.length - 1;
      const ranged: [string, Buffer[]] = [
        `${name};range=${first}-${isEnd ? '*' : last}`,
        values.slice(first, isEnd ? undefined : last + 1),
      ];
      // Beside the range, the attribute itself has no values
      return from === undefined ? [[name, []], ranged] : [ranged];
    });
  };

  const search = (message: LdapMessage, session: Session): Buffer[] => {
    const { id } = message;
    const { base, scope, filter, attributes, page } = parseSearch(message);
    if (base === '' && scope === 'base') return [rootEntry(id), searchDone(id, { code: 0 })];
    if (!session.isBound) {
      const diagnostic =
        '000004DC: LdapErr: DSID-0C090A5C, comment: In order to perform this operation a successful bind must be completed on the connection., data 0, v4563';
      return [searchDone(id, { code: 1, diagnostic })];
    }
    const left = page !== null && page.cookie.length > 0 ? session.pages.get(page.cookie.toString('hex')) : undefined;
    if (page !== null && page.cookie.length > 0 && left === undefined) {
      return [searchDone(id, { code: 53, diagnostic: '00000057: the cookie is not valid' })];
    }
    const found = left ?? tree.within(base, scope)?.filter((object) => matches(tree, object, filter));
    if (found === undefined) {
      const diagnostic = `0000208D: NameErr: DSID-0310028C, problem 2001 (NO_OBJECT), data 0, best match of: '${baseDn}'`;
      return [searchDone(id, { code: 32, diagnostic })];
    }
    const isEmptyPage = sendsEmptyPages && page !== null && session.pages.size % 2 === 0;
    const size = isEmptyPage ? 0 : Math.min(page?.size ?? maxPageSize, maxPageSize);
    const rest = found.slice(size);
    const entries = found.slice(0, size).map((object) => searchEntry(id, object.dn, selected(object, attributes)));
    if (rest.length > 0 || isEmptyPage) {
      if (page === null) return [...entries, searchDone(id, { code: 4 })];
      const cookie = randomBytes(16);
      session.pages.set(cookie.toString('hex'), rest);
      return [...entries, searchDone(id, { code: 0, cookie })];
    }
    const isRoot = scope === 'sub' && dnKey(base) === dnKey(baseDn);
    const partitions = ['DC=ForestDnsZones', 'DC=DomainDnsZones', 'CN=Configuration'].map(
      (name) => `ldap://${name === 'CN=Configuration' ? '' : `${name.slice(3)}.`}corp.example/${name},${baseDn}`,
    );
    return [
      ...entries,
      ...(isRoot ? [...partitions, ...references] : []).map((url) => searchReference(id, url)),
      searchDone(id, { code: 0, cookie: page === null ? undefined : Buffer.alloc(0) }),
    ];
  };

  const serve = (socket: Socket, session: Session): void => {
    const splitter = new MessageSplitter();
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const bytes of splitter.push(chunk)) answer(parseMessage(bytes), socket, session);
      } catch {
        socket.destroy();
      }
    });
  };

  const answer = (message: LdapMessage, socket: Socket, session: Session): void => {
    const { id } = message;
    if (message.operation === request.bind) {
      const { name, password } = parseBind(message);
      const result = bindResult(name, password);
      binds.push({ name, hadPassword: password !== '' && password !== null, code: result.code });
      session.isBound = result.code === 0 && name !== '';
      socket.write(bindResponse(id, result));
    } else if (message.operation === request.search) {
      for (const bytes of search(message, session)) socket.write(bytes);
    } else if (message.operation === request.extended && parseExtendedOid(message) === startTlsOid && offersStartTls) {
      socket.removeAllListeners('data');
      socket.write(extendedResponse(id, { code: 0 }));
      const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(secrets) });
      serve(secure, session);
    } else if (message.operation === request.extended) {
      const diagnostic = '00000000: LdapErr: DSID-0C0910FE, comment: Error initializing SSL/TLS, data 0, v4563';
      socket.write(extendedResponse(id, { code: 52, diagnostic }));
    } else {
      socket.end();
    }
  };

  const listen = async (server: Server, wantedPort = 0): Promise<number> => {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    });
    server.listen(wantedPort, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const newSession = (): Session => ({ isBound: false, pages: new Map() });
  const plain = createServer((socket) => serve(socket, newSession()));
  const secure = createTlsServer(secrets, (socket) => serve(socket, newSession()));
  secure.on('tlsClientError', () => undefined);
  const [port, securePort] = [await listen(plain, options.port), await listen(secure)];

  return {
    url: `ldap://127.0.0.1:${port}`,
    ldapsUrl: `ldaps://127.0.0.1:${securePort}`,
    baseDn,
    adminDn,
    adminPassword,
    caCertificatePem,
    binds,
    openConnections: () => sockets.size,
    put: (object) => tree.put(object),
    modify: (dn, attributes) => tree.modify(dn, attributes),
    delete: (dn) => tree.delete(dn),
    rename: (dn, newDn) => tree.rename(dn, newDn),
    objectGuid: (dn) => tree.must(dn).attributes.get('objectguid')?.values[0] ?? Buffer.alloc(0),
    async stop() {
      const closed = [plain, secure].map((server) => once(server, 'close'));
      for (const server of [plain, secure]) server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
