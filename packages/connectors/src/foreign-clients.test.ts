import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const packages = join(import.meta.dirname, '../..');

/**
 * Each module that connects to foreign servers, with its lines that limit size and time. Add a new module here and in the table of
 * docs/threats.md.
 */
const clients: Record<string, string[]> = {
  'connectors/src/calendar/caldav.ts': ['const maxAnswerBytes = 512 * 1024;', 'maxBytes: maxCalendarBytes'],
  'connectors/src/calendar/ics.ts': ['maxBytes: maxCalendarBytes'],
  'connectors/src/cloud-status/read-cloud.ts': ['const maxBytes = 64 * 1024;', 'const timeoutMs = 10 * SECOND;'],
  'connectors/src/icons/find-icon.ts': ['const textMaxBytes = 256 * 1024;', 'const maxTries = 6;'],
  'connectors/src/imap/mailbox.ts': ['const lineBytes = 64 * KiB;', 'socketTimeout: 30 * SECOND'],
  'connectors/src/ldap/connection.ts': ['const usualAnswerBytes = 50 * 1024 * 1024;'],
  'connectors/src/servers/server-session.ts': [
    'const maxBytes = 8 * 1024 * 1024;',
    'const defaultTimeoutMs = 15 * SECOND;',
  ],
  'connectors/src/tenders/fetch-feed.ts': ['const maxBodyBytes = 5 * 1024 * 1024;', 'const totalMs = 20 * SECOND;'],
  'connectors/src/tenders/notice-export.ts': [
    'maxBytes: exportBounds.downloadBytes',
    'const downloadTimeoutMs = 10 * 60_000;',
  ],
  'connectors/src/tenders/ted-search.ts': [
    'const maxPageBytes = 32 * 1024 * 1024;',
    'const requestTimeoutMs = 60_000;',
  ],
  'platform/src/files/object-store-calls.ts': [
    'const maxAnswerBytes = 8 * 1024 * 1024;',
    'tryMs: 5 * SECOND',
    'callMs: 15 * SECOND',
    'silenceMs: 30 * SECOND',
  ],
  'mail/src/transport.ts': ['overallTimeoutMs ?? 60_000'],
};
/** The shared modules through which the clients connect. */
const sharedModules = ['connectors/src/http/checked-address.ts', 'connectors/src/http/send.ts'];

const sources = globSync('{connectors,mail,platform,usecases}/src/**/*.ts', { cwd: packages })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(packages, path), 'utf8') }));

describe('clients of foreign servers', () => {
  it('are all listed', () => {
    const dialling = sources.filter(({ text }) => dials(text)).map(({ path }) => path);
    expect(dialling.toSorted()).toEqual([...Object.keys(clients), ...sharedModules].toSorted());
  });

  it.each(Object.entries(clients))('%s has its limits', (path, bounds) => {
    const text = sources.find((source) => source.path === path)?.text ?? '';
    for (const bound of bounds) expect(text).toContain(bound);
  });

  it('are proven by tests that exist and are found by their name', () => {
    const table = readFileSync(join(packages, '../docs/threats.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const named = new Set(
      table.flatMap((line) => [...line.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, name = '']) => name)),
    );
    const tests = globSync('{packages,apps}/**/*.test.ts', {
      cwd: join(packages, '..'),
      exclude: ['**/node_modules/**'],
    });
    const filesOf = (name: string) => tests.filter((path) => path.endsWith(`/${name}`));
    expect([...named].filter((name) => filesOf(name).length !== 1)).toEqual([]);
    expect(named.size).toBeGreaterThan(20);
  });

  it.each([
    [true, "import { connect as connectTcp, type Socket } from 'node:net';"],
    [true, "import { ImapFlow } from 'imapflow';"],
    [true, "import { guardedFetch } from '@portal/connectors/http/guarded-fetch';"],
    [true, "const answer = await fetch('https://example.org');"],
    [true, "const { createTransport } = await import('nodemailer');"],
    [false, "import { isIP } from 'node:net';"],
    [false, "import type { ImapFlow } from 'imapflow';"],
    [false, "import { type OutboundPolicy } from '../http/guarded-fetch.ts';"],
  ])('the check answers %s for %s', (expected, text) => {
    expect(dials(text)).toBe(expected);
  });
});

/** Whether a module can open a connection. Imports of types or address checks do not count. */
function dials(text: string): boolean {
  if (/(?<![.\w])fetch\(['"`]/.test(text)) return true;
  if (/import\('(imapflow|ldapts|nodemailer|undici|tsdav)/.test(text)) return true;
  const imports = text.matchAll(/^import (?!type )([^;]*?) from '([^']+)';/gms);
  return [...imports].some(([, what = '', from = '']) => {
    const names = what
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '));
    if (/^node:(net|tls|http|https|http2|dgram)$/.test(from))
      return names.some((name) => /^(connect|createConnection|createSocket|request|get)\b/.test(name));
    if (/^undici$|^imapflow$|^nodemailer(\/|$)/.test(from)) return names.length > 0;
    return /\/guarded-fetch(\.ts)?$/.test(from) && names.some((name) => /[Ff]etch|[Ss]ession|[Dd]ownload/.test(name));
  });
}
