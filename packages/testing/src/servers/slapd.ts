import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Attribute, Change, Client } from 'ldapts';
import { serviceBinary } from '../services.ts';
import { freePort, isAccepting } from './private-process.ts';
import { caCertificatePem, fixturePath, type ServerCertificate } from './tls.ts';

const run = promisify(execFile);

/** An object to load: attribute names with one value or several. */
export interface TestEntry {
  dn: string;
  attributes: Record<string, string | string[]>;
}

export interface SlapdOptions {
  /** Loaded before the server starts, after the base, `ou=people` and `ou=groups`. */
  entries?: Iterable<TestEntry>;
  /** Maximum entries of a search without pages; default unlimited. The administrator has no limit. */
  sizeLimit?: number;
  /** Maximum entries of all pages of a search; default unlimited. */
  pagedSizeLimit?: number;
  /** Default `localhost`. */
  certificate?: ServerCertificate;
  /** Default `dc=example,dc=org`. */
  baseDn?: string;
  /** Additional lines for the global part of slapd.conf. */
  configuration?: string;
}

export interface TestSlapd {
  /** `ldap://`, with StartTLS on offer. */
  url: string;
  ldapsUrl: string;
  baseDn: string;
  peopleDn: string;
  groupsDn: string;
  adminDn: string;
  adminPassword: string;
  /** The authority that issued the server's certificate. */
  caCertificatePem: string;
  pid: number;
  add(entry: TestEntry): Promise<void>;
  /** Replaces the attributes; an empty list removes one. */
  modify(dn: string, attributes: Record<string, string | string[]>): Promise<void>;
  delete(dn: string): Promise<void>;
  /** Renames or moves an entry. */
  rename(dn: string, newDn: string): Promise<void>;
  stop(): Promise<void>;
}

const adminPassword = 'directory manager';

const toList = (value: string | string[]): string[] => (typeof value === 'string' ? [value] : value);

// LDIF accepts any value in base64, which avoids its rules about first characters (RFC 2849)
const ldifLine = (name: string, value: string): string => `${name}:: ${Buffer.from(value).toString('base64')}\n`;

const toLdif = ({ dn, attributes }: TestEntry): string =>
  `${ldifLine('dn', dn)}${Object.entries(attributes)
    .flatMap(([name, value]) => toList(value).map((one) => ldifLine(name, one)))
    .join('')}\n`;

/** A name as one part of a DN (RFC 4514 section 2.4). */
export const escapeRdnValue = (value: string): string =>
  value.replaceAll(/[,+"\\<>;=]|^[ #]| $/g, (character) => `\\${character}`);

/** A person below `ou=people` who can bind with `password`, `secret` unless given. */
export const person = (
  uid: string,
  {
    baseDn = 'dc=example,dc=org',
    password = 'secret',
    ...attributes
  }: Record<string, string | string[]> & {
    baseDn?: string;
    password?: string;
  } = {},
): TestEntry => ({
  dn: `uid=${escapeRdnValue(uid)},ou=people,${baseDn}`,
  attributes: {
    objectClass: 'inetOrgPerson',
    uid,
    cn: `Person ${uid}`,
    sn: uid,
    displayName: `Person ${uid}`,
    // The schema allows addresses in ASCII only
    mail: `${encodeURIComponent(uid)}@example.org`,
    userPassword: password,
    ...attributes,
  },
});

/** A group below `ou=groups`; the schema requires at least one member. */
export const group = (cn: string, member: string[], baseDn = 'dc=example,dc=org'): TestEntry => ({
  dn: `cn=${escapeRdnValue(cn)},ou=groups,${baseDn}`,
  attributes: { objectClass: 'groupOfNames', cn, member },
});

const slapdConf = (folder: string, baseDn: string, adminDn: string, options: SlapdOptions): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile ${folder}/slapd.pid
loglevel none
threads 4
TLSCertificateFile ${fixturePath(options.certificate ?? 'localhost')}
TLSCertificateKeyFile ${fixturePath('key')}
sizelimit size.soft=${options.sizeLimit ?? 'unlimited'} size.hard=${options.sizeLimit ?? 'unlimited'} size.prtotal=${options.pagedSizeLimit ?? 'unlimited'}
access to attrs=userPassword by anonymous auth by * none
access to * by * read
${options.configuration ?? ''}

database mdb
suffix "${baseDn}"
rootdn "${adminDn}"
rootpw "${adminPassword}"
directory ${folder}/data
maxsize 1073741824
dbnosync
index objectClass,member,memberOf,entryUUID eq
index cn,sn,mail,uid eq,sub
overlay memberof
memberof-refint TRUE
`;

function* seed(baseDn: string, options: SlapdOptions): Generator<string> {
  const dc = /^dc=([^,]+)/i.exec(baseDn)?.[1] ?? 'example';
  yield toLdif({ dn: baseDn, attributes: { objectClass: ['dcObject', 'organization'], dc, o: dc } });
  for (const ou of ['people', 'groups']) {
    yield toLdif({ dn: `ou=${ou},${baseDn}`, attributes: { objectClass: 'organizationalUnit', ou } });
  }
  const entries = [...(options.entries ?? [])];
  // The memberof overlay only handles changes while the server runs
  const groupsOf = new Map<string, string[]>();
  for (const { dn, attributes } of entries) {
    for (const member of toList(attributes['member'] ?? [])) {
      groupsOf.getOrInsert(member.toLowerCase(), []).push(dn);
    }
  }
  for (const { dn, attributes } of entries) {
    yield toLdif({ dn, attributes: { ...attributes, memberOf: groupsOf.get(dn.toLowerCase()) ?? [] } });
  }
}

/** Starts Debian's OpenLDAP as a private process on 127.0.0.1; stopping it deletes its directory. */
export async function startSlapd(options: SlapdOptions = {}): Promise<TestSlapd> {
  const binary = serviceBinary('slapd');
  if (!binary) throw new Error('slapd is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-slapd-'));
  const baseDn = options.baseDn ?? 'dc=example,dc=org';
  const adminDn = `cn=admin,${baseDn}`;
  const conf = join(folder, 'slapd.conf');
  await mkdir(join(folder, 'data'));
  await writeFile(conf, slapdConf(folder, baseDn, adminDn, options), { mode: 0o600 });
  await writeFile(join(folder, 'seed.ldif'), seed(baseDn, options));
  const load = ['-T', 'add', '-q', '-f', conf, '-b', baseDn, '-l', join(folder, 'seed.ldif')];

  let server: ChildProcess | null = null;
  let port = 0;
  let tlsPort = 0;
  let complaint = '';
  try {
    // -T makes it slapadd, which is the same program
    await run(binary, load);
    // Another process may take the port between its choice and its use
    for (let attempt = 1; server === null; attempt += 1) {
      port = await freePort();
      tlsPort = await freePort();
      const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`;
      const started = spawn(binary, ['-d', '0', '-f', conf, '-h', urls], { stdio: ['ignore', 'ignore', 'pipe'] });
      started.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-2000)));
      if (await isAccepting(started, tlsPort)) server = started;
      else {
        started.kill('SIGKILL');
        if (attempt === 3) throw new Error(`slapd did not start: ${complaint}`);
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const running = server;

  const asAdmin = async (work: (client: Client) => Promise<void>): Promise<void> => {
    const client = new Client({ url: `ldap://127.0.0.1:${port}` });
    try {
      await client.bind(adminDn, adminPassword);
      await work(client);
    } finally {
      await client.unbind();
    }
  };

  return {
    url: `ldap://127.0.0.1:${port}`,
    ldapsUrl: `ldaps://127.0.0.1:${tlsPort}`,
    baseDn,
    peopleDn: `ou=people,${baseDn}`,
    groupsDn: `ou=groups,${baseDn}`,
    adminDn,
    adminPassword,
    caCertificatePem,
    pid: running.pid as number,
    add: ({ dn, attributes }) => asAdmin((client) => client.add(dn, attributes)),
    modify: (dn, attributes) =>
      asAdmin((client) =>
        client.modify(
          dn,
          Object.entries(attributes).map(
            ([type, value]) =>
              new Change({ operation: 'replace', modification: new Attribute({ type, values: toList(value) }) }),
          ),
        ),
      ),
    delete: (dn) => asAdmin((client) => client.del(dn)),
    rename: (dn, newDn) => asAdmin((client) => client.modifyDN(dn, newDn)),
    async stop() {
      if (running.exitCode === null && running.signalCode === null) {
        const ended = once(running, 'exit');
        // Its data is deleted, so it need not close its database
        running.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
