import { afterEach, expect, it } from 'vitest';
import { openDirectory } from '@portal/connectors/ldap/directory';
import { heldBytes } from '@portal/testing/held-bytes';
import { startRogueDirectory } from '@portal/testing/servers/rogue-directory';
import type { TestEntry } from '@portal/testing/servers/slapd';
import type { StoredLdapConfig } from '../stored-ldap-config.ts';
import { readGroups } from './read-groups.ts';

/* The groups of a hostile directory must not block other work or fill the memory. */

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const groupOf = (dn: string, member: string[]): TestEntry => ({
  dn,
  attributes: { objectClass: 'groupOfNames', cn: 'g', member },
});

/** Ways to spell one name, each of which takes memory of its own. */
const spellings = (dn: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => {
    let place = 0;
    return dn.replaceAll(/[a-z]/g, (letter) => ((n >> place++) & 1 ? letter.toUpperCase() : letter));
  });

/** Reads the groups of a directory that returns these. */
async function read(
  entries: { groups?: TestEntry[]; elsewhere?: TestEntry[] },
  { includeDns = [], take = () => undefined }: { includeDns?: string[]; take?: (bytes: number) => void } = {},
) {
  const server = await startRogueDirectory();
  cleanups.push(() => server.stop());
  server.setEntries({ people: [], ...entries });
  const policy = { reach: 'private' as const, allowHosts: [] };
  const host = { url: server.url, startTls: false, skipTlsVerify: false, caCertificatePem: null, policy };
  const directory = await openDirectory({ ...host, bindDn: null, bindPassword: null }, { onHeld: take });
  cleanups.push(async () => directory[Symbol.asyncDispose]());
  const config = { baseDn: server.baseDn, includeDns } as unknown as StoredLdapConfig;
  const memory = { take, [Symbol.dispose]: () => undefined };
  return readGroups(directory, { config, memory, signal: new AbortController().signal });
}

it('yields to other work while it parses a group with expensive names', { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 100_000 }, (_, n) => String.raw`cn=ä\,${n},dc=ö+a=b`);
  const found = await read({ groups: [groupOf('cn=a', names)] });
  const begun = performance.now();
  let longest = 0;
  let last = begun;
  const sampling = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const { graph } = await found.membership();
  clearInterval(sampling);
  longest = Math.max(longest, performance.now() - last);
  expect(graph.groups).toHaveLength(1);
  expect(longest).toBeLessThan((performance.now() - begun) / 3);
});

it('keeps only one group outside the base in memory, regardless of nesting', { timeout: 120_000 }, async () => {
  const depth = 100;
  const name = (n: number) => `cn=group-of-others-${n},dc=elsewhere`;
  const groupAt = (n: number): TestEntry => ({
    dn: name(n),
    attributes: {
      objectClass: 'groupOfNames',
      cn: 'g',
      // Made when it is read, so that the test does not hold all names itself.
      get member() {
        return spellings(name(n + 1), 5_000);
      },
    },
  });
  const elsewhere = Array.from({ length: depth }, (_, n) => groupAt(n));
  const before = heldBytes();
  let peak = 0;
  let groups = 0;
  const take = (bytes: number) => {
    // The memory of one group, in the middle of the reading.
    if (bytes < 400 || bytes > 500) return;
    groups += 1;
    if (groups % 10 === 0) peak = Math.max(peak, heldBytes() - before);
  };
  const found = await read({ elsewhere }, { includeDns: [name(0)], take });
  expect(found.groups).toHaveLength(depth);
  expect(groups).toBeGreaterThanOrEqual(depth);
  // All names at once would take more than 25 MB.
  expect(peak).toBeLessThan(10 * 1024 * 1024);
});

it('keeps only one portion of names per large group in memory', { timeout: 120_000 }, async () => {
  const groups = [groupOf('cn=a', spellings('uid=someone,dc=elsewhere', 200_000))];
  const readings = await Promise.all(Array.from({ length: 10 }, () => read({ groups })));
  const before = heldBytes();
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, heldBytes() - before)), 50);
  await Promise.all(readings.map(({ membership }) => membership()));
  clearInterval(sampling);
  // All of these names would take 100 MB.
  expect(peak).toBeLessThan(20 * 1024 * 1024);
});

it('warns if more entries are outside the base than it reads', { timeout: 60_000 }, async () => {
  const members = Array.from({ length: 1_500 }, (_, n) => `uid=p${n},dc=elsewhere`);
  const elsewhere = [groupOf('cn=a,dc=elsewhere', members)];
  const { warnings, groups } = await read({ elsewhere }, { includeDns: ['cn=a,dc=elsewhere'] });
  expect(groups).toHaveLength(1);
  expect(warnings).toEqual([expect.stringContaining('only 1000 members were read')]);
});
