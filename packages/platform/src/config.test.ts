import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const key = Buffer.alloc(32).toString('base64');
const enough = {
  DATABASE_URL: 'postgres://portal:pw@127.0.0.1:5432/portal',
  SESSION_SECRET: `a:${key}`,
  SECRETS_KEYS: `a:${key}`,
};

describe('settings', () => {
  it('require the database and the keys, and have defaults for everything else', () => {
    const config = readConfig(enough);
    expect(config.http).toEqual({
      port: 3000,
      host: '127.0.0.1',
      publicUrl: 'http://127.0.0.1:3000',
      publicUrlIsSet: false,
      corsOrigins: [],
      cookieSameSite: 'lax',
      trustProxy: false,
    });
    expect(config.smtp).toBeNull();
    expect(config.release).toEqual({
      name: 'portal',
      version: 'dev',
      channel: 'dev',
      commit: 'unknown',
      buildTime: 'unknown',
    });
  });

  it('report all wrong settings at once, without their values', () => {
    const attempt = () =>
      readConfig({
        PORT: '70000',
        DATABASE_URL: 'mysql://root:hunter2@x',
        SESSION_SECRET: 'a:short',
        TRUST_PROXY: '10.0.0.0/40',
        SMTP_HOST: 'mail',
        LOG_LEVEL: 'loud',
      });
    expect(attempt).toThrow(/PORT: [\s\S]*DATABASE_URL: [\s\S]*SESSION_SECRET: [\s\S]*SECRETS_KEYS: must be set/);
    for (const name of ['TRUST_PROXY', 'SMTP_FROM', 'LOG_LEVEL']) expect(attempt).toThrow(new RegExp(`${name}: `));
    expect(attempt).not.toThrow(/hunter2|short/);
  });

  it('treat an empty variable as unset', () => {
    expect(readConfig({ ...enough, PORT: '', PUBLIC_URL: '', REDIS_URL: '' }).http.port).toBe(3000);
  });

  it('take the usual tender sources, other addresses, or none for an empty variable', () => {
    expect(readConfig(enough).tenderSources).toEqual({
      ted: 'https://api.ted.europa.eu/v3/notices/search',
      oeffentlichevergabe: 'https://oeffentlichevergabe.de/api/notice-exports',
      bund: 'https://www.service.bund.de/Content/Globals/Functions/RSSFeed/RSSGenerator_Ausschreibungen.xml',
    });
    const given = { ...enough, TENDER_TED_URL: '', TENDER_OEV_URL: 'http://127.0.0.1:8080/export?kind=x' };
    expect(readConfig({ ...given, TENDER_BUND_RSS_URL: '' }).tenderSources).toEqual({
      ted: null,
      oeffentlichevergabe: 'http://127.0.0.1:8080/export?kind=x',
      bund: null,
    });
  });

  it('take the build of this checkout for pages, another folder, or none for an empty variable', () => {
    const root = resolve(import.meta.dirname, '../../..');
    const webDirOf = (env: Record<string, string>) => readConfig({ ...enough, ...env }).webDir;
    expect(webDirOf({})).toBe(join(root, 'apps/web/dist'));
    expect(webDirOf({ WEB_DIR: '/srv/pages' })).toBe('/srv/pages');
    expect(webDirOf({ WEB_DIR: '.cache/web-dist' })).toBe(join(root, '.cache/web-dist'));
    expect(webDirOf({ WEB_DIR: '' })).toBeNull();
  });

  it('take the folder of the desktop client and the file of cloud releases, or neither', () => {
    expect(readConfig({ ...enough, DESKTOP_DIR: '', CLOUD_RELEASES_FILE: '' })).toMatchObject({
      desktopDir: null,
      cloudReleasesFile: null,
    });
    expect(readConfig({ ...enough, DESKTOP_DIR: '/srv/desktop', CLOUD_RELEASES_FILE: 'releases.json' })).toMatchObject({
      desktopDir: '/srv/desktop',
      cloudReleasesFile: 'releases.json',
    });
  });

  it('take an object store for the files, with its keys', () => {
    expect(readConfig(enough).objectStore).toBeNull();
    const store = {
      FILES_URL: 's3://files/portal?endpoint=https://s3.example.org&region=eu-central-1',
      S3_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      S3_SECRET_ACCESS_KEY: 'hunter2/+=',
    };
    const { objectStore } = readConfig({ ...enough, ...store });
    expect(objectStore).toMatchObject({ bucket: 'files', prefix: 'portal/', accessKeyId: 'AKIDEXAMPLE' });
    expect(objectStore?.secretAccessKey.reveal()).toBe('hunter2/+=');
    expect(JSON.stringify(objectStore)).not.toContain('hunter2');
    const problemsOf = (env: Record<string, string>) => {
      try {
        readConfig({ ...enough, ...env });
        return null;
      } catch (error) {
        return (error as Error).message.split('\n  ').slice(1);
      }
    };
    const { FILES_URL, ...keys } = store;
    expect(problemsOf({ FILES_URL })).toEqual([
      'S3_ACCESS_KEY_ID: must be set together with FILES_URL',
      'S3_SECRET_ACCESS_KEY: must be set together with FILES_URL',
    ]);
    expect(problemsOf(keys)).toEqual([
      'S3_ACCESS_KEY_ID: is of no use without FILES_URL',
      'S3_SECRET_ACCESS_KEY: is of no use without FILES_URL',
    ]);
    expect(problemsOf({ ...store, FILES_URL: 's3://files', S3_ACCESS_KEY_ID: 'a b' })).toEqual([
      'FILES_URL: must name the address of the store: endpoint=https://host',
      'S3_ACCESS_KEY_ID: must be printable and without spaces',
    ]);
  });

  it('ignore variables that are named like properties of every object', () => {
    expect(() => readConfig({ ...enough, constructor: 'x', toString: '' })).not.toThrow();
  });

  it.each([
    ['PUBLIC_URL', 'ftp://portal.example.org'],
    ['PUBLIC_URL', 'https://portal.example.org/path'],
    ['CORS_ORIGINS', 'https://a.example, nonsense'],
    ['SESSION_SECRET', `a:${key},a:${key}`],
    ['SESSION_SECRET', `a b:${key}`],
    ['SMTP_SECURITY', 'ssl'],
    ['METRICS_TOKEN', 'short'],
    ['SEED_ADMIN_PASSWORD', 'short'],
    ['DATABASE_POOL_MAX', '0'],
    ['COOKIE_SAMESITE', 'none'],
    ['TRUST_PROXY', 'yes'],
    ['DATABASE_URL', 'mysql://one/portal'],
    ['DATABASE_URL', 'postgres://user:word@one,two/portal'],
    ['DATABASE_MIGRATION_URL', 'postgres://user:word@one:5432,two:5432/portal'],
    ['REDIS_URL', 'redis://one:6379,two:6379'],
    ['REDIS_URL', 'redis+sentinel://one,two'],
    ['REDIS_URL', 'redis+cluster://one/3'],
    ['OUTBOUND_ALLOW_HOSTS', 'wiki.intern, http://other.intern'],
    ['OUTBOUND_PRIVATE', 'no'],
    ['TENDER_TED_URL', 'off'],
    ['TENDER_TED_URL', 'ftp://ted.example.org/search'],
    ['TENDER_OEV_URL', 'https://user:hunter2@oev.example.org/'],
    ['TENDER_BUND_RSS_URL', ' '],
    ['TENDER_BUND_RSS_URL', `https://bund.example.org/${'x'.repeat(2_048)}`],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ ...enough, [name]: value })).toThrow(new RegExp(`${name}: `));
  });

  it('take a Redis of one server, of sentinels or of a cluster, and show no password of it', () => {
    expect(readConfig(enough).redis).toBeNull();
    const { redis } = readConfig({ ...enough, REDIS_URL: 'redis+sentinel://:hunter2@one,two/mymaster' });
    expect(redis?.reveal()).toMatchObject({ kind: 'sentinel', primaryName: 'mymaster' });
    expect(JSON.stringify(redis)).toBe('"[secret]"');
  });

  it('take a comma in the password of the database', () => {
    const url = 'postgres://user:w,rd@one/portal';
    expect(readConfig({ ...enough, DATABASE_URL: url }).database.url.reveal()).toBe(url);
  });

  it('take non-public hosts that users may enter', () => {
    const { outbound } = readConfig({ ...enough, OUTBOUND_ALLOW_HOSTS: 'Wiki.intern, 127.0.0.1:8080' });
    for (const { allowHosts } of Object.values(outbound)) {
      expect(allowHosts).toEqual([
        { host: 'wiki.intern', port: null },
        { host: '127.0.0.1', port: 8080 },
      ]);
    }
    expect(readConfig(enough).outbound.byUsers.allowHosts).toEqual([]);
  });

  it('decide whether administrators may enter private hosts; users never may, the operator always may', () => {
    const reachOf = (env: Record<string, string>) =>
      Object.entries(readConfig({ ...enough, ...env }).outbound).map(([who, { reach }]) => `${who} ${reach}`);
    expect(reachOf({})).toEqual(['byUsers public', 'byAdmins private', 'byOperator private']);
    expect(reachOf({ OUTBOUND_PRIVATE: 'deny' })).toEqual(['byUsers public', 'byAdmins public', 'byOperator private']);
  });

  it('take key lists, origins, proxies and mail servers', () => {
    const config = readConfig({
      ...enough,
      SESSION_SECRET: `new:${key}, old:${key}`,
      CORS_ORIGINS: 'https://a.example, https://b.example:8443/',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      PUBLIC_URL: 'https://portal.example.org/',
      SMTP_HOST: 'mail.example.org',
      SMTP_FROM: 'portal@example.org',
      SMTP_VERIFY_TLS: 'false',
    });
    expect(config.sessionKeys.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(config.http).toMatchObject({
      corsOrigins: ['https://a.example', 'https://b.example:8443'],
      trustProxy: ['10.0.0.0/8', '::1'],
      publicUrl: 'https://portal.example.org',
    });
    expect(config.smtp).toMatchObject({ host: 'mail.example.org', port: 587, security: 'starttls', verifyTls: false });
  });

  it('never print a secret', () => {
    const config = readConfig({
      ...enough,
      SEED_ADMIN_PASSWORD: 'hunter2-hunter2',
      METRICS_TOKEN: 'metrics-metrics-metrics',
    });
    const printed = `${inspect(config, { depth: 9 })}${JSON.stringify(config)}${String(config.database.url)}`;
    expect(printed).not.toMatch(/hunter2|metrics-metrics|:pw@/);
    expect(printed).not.toContain(key);
    expect(printed).toContain('[secret]');
  });
});
