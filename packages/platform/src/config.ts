import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type AllowedHost, parseAllowedHost } from '@portal/connectors/http/allowed-hosts';
import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { Secret } from '@portal/domain/secret';
import { WebAddress } from '@portal/domain/web-address';
import { type ObjectStoreAddress, parseObjectStoreAddress } from './files/object-store-address.ts';
import { RedisAddress } from './queues/redis-address.ts';

/** A signing or encryption key, and the id that is stored with its signatures and ciphertexts. */
export interface Key {
  id: string;
  bytes: Secret<Buffer>;
}

const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] });
const port = z.coerce.number('must be a port number').int().min(0).max(65_535);
const count = z.coerce.number('must be a number').int();

const origin = z.string().transform((value, check) => {
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash) {
    check.addIssue('must be an http or https address without query, credentials or fragment');
    return z.NEVER;
  }
  return url;
});

/** Scheme, host and port only. */
const bareOrigin = origin.transform((url, check) => {
  if (url.pathname !== '/') check.addIssue(`must have no path, for example ${url.origin}`);
  return url.origin;
});

const commaList = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const keys = z.string().transform((value, check): [Key, ...Key[]] => {
  const found: Key[] = [];
  for (const part of commaList(value)) {
    const [id, encoded, ...rest] = part.split(':');
    const bytes = Buffer.from(encoded ?? '', 'base64');
    if (!id || !/^[A-Za-z0-9_-]{1,32}$/.test(id) || rest.length > 0 || bytes.length !== 32) {
      check.addIssue('must be id:base64-of-32-bytes, several separated by commas (make one: openssl rand -base64 32)');
      return z.NEVER;
    }
    if (found.some((key) => key.id === id)) {
      check.addIssue(`names the key id ${id} twice`);
      return z.NEVER;
    }
    found.push({ id, bytes: new Secret(bytes) });
  }
  const [first, ...others] = found;
  if (!first) {
    check.addIssue('must name at least one key');
    return z.NEVER;
  }
  return [first, ...others];
});

const trustProxy = z.string().transform((value, check): false | number | string[] => {
  if (value === 'false') return false;
  if (/^\d{1,2}$/.test(value)) return Number(value);
  const networks = commaList(value);
  const valid = networks.every((network) => {
    const [address, bits, ...rest] = network.split('/');
    const family = isIP(address ?? '');
    return (
      rest.length === 0 &&
      family !== 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
    );
  });
  if (networks.length === 0 || !valid)
    check.addIssue('must be false, a number of proxies, or networks such as 10.0.0.0/8');
  return networks;
});

const allowHosts = z.string().transform((value, check): AllowedHost[] =>
  commaList(value).map((entry) => {
    const host = parseAllowedHost(entry);
    if (host) return host;
    check.addIssue('must be hosts such as wiki.intern or wiki.intern:8080, comma-separated');
    return z.NEVER;
  }),
);

const databaseUrl = z.string().superRefine((value, check) => {
  const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?@]*)/.exec(value) ?? [];
  if (hosts.includes(','))
    check.addIssue('must name one host, which leads to the primary: the driver does not choose between several');
  else if (!['postgres:', 'postgresql:'].includes(URL.parse(value)?.protocol ?? ''))
    check.addIssue('must be postgres://user:password@host:port/name');
});

const objectStoreAddress = z.string().transform((value, check): ObjectStoreAddress => {
  const address = parseObjectStoreAddress(value);
  if (typeof address !== 'string') return address;
  check.addIssue(address);
  return z.NEVER;
});

/** Address of an external service: unset means the usual address; an empty value, which elsewhere counts as unset, turns it off. */
const endpointOrOff = (usual: string) =>
  z
    .string()
    .transform((value) => (value === '' ? null : value))
    .pipe(WebAddress.nullable())
    .default(usual)
    .meta({ emptyTurnsOff: true });

/** The checkout, or the folder of the image that has its layout. */
const root = resolve(import.meta.dirname, '../../..');

/** All settings, by environment name. A test keeps `.env.example` equal to this list. */
export const Settings = z.object({
  PORT: port.default(3000).describe('Port of the API; 0 picks a free one and prints it'),
  HOST: z.string().default('127.0.0.1').describe('Address the API listens on'),
  PUBLIC_URL: bareOrigin.optional().describe('Address where users reach the service; unset, http://HOST:PORT'),
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform(commaList)
    .pipe(z.array(bareOrigin))
    .describe('Origins of web front ends that may call with credentials, comma-separated'),
  COOKIE_SAMESITE: z
    .enum(['lax', 'none'])
    .default('lax')
    .describe('`none` serves a front end of another site (https only)'),
  TRUST_PROXY: trustProxy.default(false).describe('`false`, the number of proxies in front, or their networks'),
  DATABASE_URL: databaseUrl.describe('PostgreSQL 15 or newer; unset, `npm start` runs its own'),
  DATABASE_MIGRATION_URL: databaseUrl
    .optional()
    .describe('Login that owns the tables, for the migration alone; unset, DATABASE_URL'),
  DATABASE_POOL_MAX: count.min(2).max(200).default(10).describe('Connections each process may hold for its own work'),
  REDIS_URL: RedisAddress.optional().describe(
    'Redis for the job queues, one server, sentinels or a cluster; unset, they live in PostgreSQL',
  ),
  DATA_DIR: z.string().default('.data').describe('Folder for files and, under `npm start`, the embedded database'),
  FILES_URL: objectStoreAddress
    .optional()
    .describe(
      'Files in an S3-compatible store, s3://bucket/prefix?endpoint=https://host&region=name; unset, they are in DATA_DIR',
    ),
  S3_ACCESS_KEY_ID: z
    .string()
    .max(200)
    .regex(/^[!-~]+$/, 'must be printable and without spaces')
    .optional()
    .describe('Its access key; needed with FILES_URL'),
  S3_SECRET_ACCESS_KEY: z
    .string()
    .max(200)
    .regex(/^[!-~]+$/, 'must be printable and without spaces')
    .transform((value) => new Secret(value))
    .optional()
    .describe('Its secret key; needed with FILES_URL'),
  SESSION_SECRET: keys.describe('Signing keys of session cookies, id:base64-of-32-bytes; the first signs, all verify'),
  SECRETS_KEYS: keys.describe(
    'Encryption keys of stored secrets, id:base64-of-32-bytes; the first encrypts, all decrypt',
  ),
  SEED_ADMIN_PASSWORD: z
    .string()
    .min(10)
    .max(128)
    .transform((value) => new Secret(value))
    .optional()
    .describe('Password of the first administrator; unset, one is made and printed once'),
  SMTP_HOST: z.string().optional().describe('Mail server for tenants without their own'),
  SMTP_PORT: port.min(1).default(587).describe('Its port'),
  SMTP_SECURITY: z.enum(['none', 'starttls', 'tls']).default('starttls').describe('`none`, `starttls` or `tls`'),
  SMTP_USERNAME: z.string().optional().describe('Sign-in name at the mail server, if it wants one'),
  SMTP_PASSWORD: z
    .string()
    .transform((value) => new Secret(value))
    .optional()
    .describe('Password for it'),
  SMTP_FROM: z.email().optional().describe('Sender address; needed with SMTP_HOST'),
  SMTP_VERIFY_TLS: flag.default(true).describe('Whether the mail server must have a valid certificate'),
  MAIL_DAILY_PER_TENANT: count
    .min(1)
    .max(1_000_000_000)
    .default(2_000)
    .describe('Mails a tenant may send over this mail server on one day, Berlin time'),
  INVOICE_STORAGE_MB_PER_TENANT: count
    .min(1)
    .max(1_000_000_000)
    .default(10_240)
    .describe('MiB of invoices stored per tenant; a tenant that has more fetches no new ones'),
  OUTBOUND_ALLOW_HOSTS: allowHosts
    .default([])
    .describe('Non-public hosts that users may enter, host or host:port, comma-separated'),
  OUTBOUND_PRIVATE: z
    .enum(['allow', 'deny'])
    .default('allow')
    .describe('`deny` keeps addresses that administrators set (directory, mail server) public too'),
  TENDER_TED_URL: endpointOrOff('https://api.ted.europa.eu/v3/notices/search').describe(
    'Search of the European tender journal; empty turns this source off',
  ),
  TENDER_OEV_URL: endpointOrOff('https://oeffentlichevergabe.de/api/notice-exports').describe(
    'Daily export of the national notice service; empty turns this source off',
  ),
  TENDER_BUND_RSS_URL: endpointOrOff(
    'https://www.service.bund.de/Content/Globals/Functions/RSSFeed/RSSGenerator_Ausschreibungen.xml',
  ).describe('Feed of the federal notices; empty turns this source off'),
  WEB_DIR: z
    .string()
    .transform((value) => (value === '' ? null : resolve(root, value)))
    .default(resolve(root, 'apps/web/dist'))
    .meta({ emptyTurnsOff: true })
    .describe('Folder of the built pages, seen from the checkout; empty turns the pages off'),
  DESKTOP_DIR: z
    .string()
    .optional()
    .describe('Folder with the manifest and the files of the desktop client; unset, no client is offered'),
  CLOUD_RELEASES_FILE: z
    .string()
    .optional()
    .describe(
      'File with the releases that cloud instances are compared with; unset, the one that ships with the product',
    ),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .transform((value) => new Secret(value))
    .optional()
    .describe('Bearer token for GET /metrics; unset, only this machine may read it'),
  WORKER_METRICS_PORT: port.default(0).describe('Port of the worker’s own metrics on HOST; 0 is off'),
  WORKER_CONCURRENCY: count
    .min(1)
    .max(100)
    .default(5)
    .describe('Jobs that a worker runs at once per queue, for queues without their own number'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least severe level that is logged; npm start in a terminal uses warn unless this is set'),
  RELEASE_VERSION: z.string().max(100).default('dev').describe('Running release, set by the image build'),
  RELEASE_CHANNEL: z.string().max(100).default('dev').describe('Its channel: `beta` or `live`'),
  RELEASE_COMMIT: z.string().max(100).default('unknown').describe('Its commit'),
  RELEASE_BUILD_TIME: z.string().max(100).default('unknown').describe('When it was built'),
});

/** All wrong settings at once; the message is for the person who set them. */
export class SettingsError extends Error {
  constructor(problems: string[]) {
    super(`These settings are wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

export type Config = ReturnType<typeof readConfig>;

const emptyTurnsOff = (name: string): boolean =>
  Settings.shape[name as keyof typeof Settings.shape].meta()?.['emptyTurnsOff'] === true;

/**
 * Reads and checks the settings, once per process. An empty variable counts as unset, except where it turns something off. Throws a
 * SettingsError that names every wrong setting.
 */
export function readConfig(env: Record<string, string | undefined>) {
  const given = Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) =>
        Object.hasOwn(Settings.shape, name) && value !== undefined && (value !== '' || emptyTurnsOff(name)),
    ),
  );
  const parsed = Settings.safeParse(given);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map(
        (issue) =>
          `${issue.path[0]?.toString() ?? ''}: ${issue.path[0] !== undefined && given[String(issue.path[0])] === undefined ? 'must be set' : issue.message}`,
      );
  if (given['SMTP_HOST'] && !given['SMTP_FROM']) problems.push('SMTP_FROM: must be set together with SMTP_HOST');
  for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'])
    if (!given['FILES_URL'] !== !given[name])
      problems.push(
        given[name] ? `${name}: is of no use without FILES_URL` : `${name}: must be set together with FILES_URL`,
      );
  if (given['COOKIE_SAMESITE'] === 'none' && !given['PUBLIC_URL']?.startsWith('https:')) {
    problems.push('COOKIE_SAMESITE: none needs a PUBLIC_URL that begins with https');
  }
  if (!parsed.success || problems.length > 0) throw new SettingsError([...new Set(problems)]);

  const s = parsed.data;
  return {
    http: {
      port: s.PORT,
      host: s.HOST,
      /** Where users reach the service. With PORT 0 the API replaces the port with the actual one. */
      publicUrl: s.PUBLIC_URL ?? `http://${isIP(s.HOST) === 6 ? `[${s.HOST}]` : s.HOST}:${s.PORT}`,
      publicUrlIsSet: s.PUBLIC_URL !== undefined,
      corsOrigins: s.CORS_ORIGINS,
      cookieSameSite: s.COOKIE_SAMESITE,
      trustProxy: s.TRUST_PROXY,
    },
    database: { url: new Secret(s.DATABASE_URL), poolMax: s.DATABASE_POOL_MAX },
    redis: s.REDIS_URL === undefined ? null : new Secret(s.REDIS_URL),
    dataDir: s.DATA_DIR,
    /** Where files are kept; null for the folder `files` in `dataDir`. */
    objectStore:
      s.FILES_URL && s.S3_ACCESS_KEY_ID && s.S3_SECRET_ACCESS_KEY
        ? { ...s.FILES_URL, accessKeyId: s.S3_ACCESS_KEY_ID, secretAccessKey: s.S3_SECRET_ACCESS_KEY }
        : null,
    sessionKeys: s.SESSION_SECRET,
    secretsKeys: s.SECRETS_KEYS,
    seedAdminPassword: s.SEED_ADMIN_PASSWORD ?? null,
    /** The service's mail server, for tenants without their own; null if none is configured. */
    smtp:
      s.SMTP_HOST && s.SMTP_FROM
        ? {
            host: s.SMTP_HOST,
            port: s.SMTP_PORT,
            security: s.SMTP_SECURITY,
            username: s.SMTP_USERNAME ?? null,
            password: s.SMTP_PASSWORD ?? null,
            fromAddress: s.SMTP_FROM,
            verifyTls: s.SMTP_VERIFY_TLS,
          }
        : null,
    /** Mails that one tenant may send over that server per day. */
    mailDailyPerTenant: s.MAIL_DAILY_PER_TENANT,
    /** Bytes of invoices per tenant; beyond them no more invoices are fetched. */
    invoiceStoragePerTenant: s.INVOICE_STORAGE_MB_PER_TENANT * 1024 * 1024,
    /** Which addresses may be called, by who configured them; `byOperator` is for addresses in these settings. */
    outbound: {
      byUsers: { reach: 'public', allowHosts: s.OUTBOUND_ALLOW_HOSTS },
      byAdmins: { reach: s.OUTBOUND_PRIVATE === 'deny' ? 'public' : 'private', allowHosts: s.OUTBOUND_ALLOW_HOSTS },
      byOperator: { reach: 'private', allowHosts: s.OUTBOUND_ALLOW_HOSTS },
    } satisfies Record<string, AddressPolicy> as Record<'byUsers' | 'byAdmins' | 'byOperator', AddressPolicy>,
    /** Addresses of the tender sources; null for a source that is turned off. */
    tenderSources: { ted: s.TENDER_TED_URL, oeffentlichevergabe: s.TENDER_OEV_URL, bund: s.TENDER_BUND_RSS_URL },
    /** The built pages; null if the API serves none. */
    webDir: s.WEB_DIR,
    desktopDir: s.DESKTOP_DIR ?? null,
    cloudReleasesFile: s.CLOUD_RELEASES_FILE ?? null,
    metricsToken: s.METRICS_TOKEN ?? null,
    worker: {
      metricsPort: s.WORKER_METRICS_PORT === 0 ? null : s.WORKER_METRICS_PORT,
      concurrency: s.WORKER_CONCURRENCY,
    },
    logLevel: s.LOG_LEVEL,
    release: {
      name: 'portal',
      version: s.RELEASE_VERSION,
      channel: s.RELEASE_CHANNEL,
      commit: s.RELEASE_COMMIT,
      buildTime: s.RELEASE_BUILD_TIME,
    },
  };
}
