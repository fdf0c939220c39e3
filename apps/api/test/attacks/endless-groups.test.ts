import { afterEach, expect, it } from 'vitest';
import { type RogueDirectory, startRogueDirectory } from '@portal/testing/servers/rogue-directory';
import { person } from '@portal/testing/servers/slapd';
import { testApp } from '../../testing/app.ts';

/*
 * An administrator whose directory nests its groups endlessly, so that every member is in all of them, must not use up the memory of the
 * API process.
 */

const { make, request } = await testApp();
type Account = Awaited<ReturnType<typeof make.user>>;
const servers: RogueDirectory[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function tenantWithDirectory() {
  const server = await startRogueDirectory();
  servers.push(server);
  const admin = await make.user({ role: 'ADMIN' });
  const settings = { serverUrl: server.url, baseDn: server.baseDn };
  expect((await request({ method: 'PUT', url: '/ldap/config', as: admin, payload: settings })).statusCode).toBe(200);
  return { server, admin };
}
const preview = (as: Account) => request({ method: 'POST', url: '/ldap/sync/preview', as });

const length = 8_000;
const groupDn = (n: number): string => `cn=g${n},dc=rogue,dc=example`;
const people = Array.from({ length: 1_500 }, (_, n) => person(`p${n}`));
const chain = Array.from({ length }, (_, n) => ({
  dn: groupDn(n),
  attributes: {
    objectClass: 'groupOfNames',
    cn: `g${n}`,
    member: [groupDn(n + 1), ...(n % 5 === 0 ? [people[n / 5]?.dn ?? groupDn(0)] : [])],
  },
}));

it(
  'a preview of endlessly nested groups is refused and frees its memory for others',
  { timeout: 120_000 },
  async () => {
    const [hostile, honest] = [await tenantWithDirectory(), await tenantWithDirectory()];
    hostile.server.setEntries({ people, groups: chain });
    honest.server.setEntries({
      people: people.slice(0, 3),
      groups: [{ dn: groupDn(0), attributes: { objectClass: 'groupOfNames', cn: 'g0', member: people[0]?.dn ?? '' } }],
    });
    for (let round = 0; round < 2; round += 1) {
      const answer = await preview(hostile.admin);
      expect([answer.statusCode, answer.json()]).toEqual([
        502,
        expect.objectContaining({
          code: 'DIRECTORY_UNAVAILABLE',
          message:
            'The directory has more people, groups and members than can be read at once. A synchronization may use more memory than a preview.',
        }),
      ]);
    }
    expect((await preview(honest.admin)).json()).toMatchObject({ counts: { read: 3, created: 3, groups: 1 } });
  },
);

it('an oversized person is refused', { timeout: 60_000 }, async () => {
  const hostile = await tenantWithDirectory();
  const huge = person('huge');
  huge.attributes = { ...huge.attributes, memberOf: Array.from({ length: 60_000 }, (_, n) => groupDn(n)) };
  hostile.server.setEntries({ people: [huge] });
  const answer = await preview(hostile.admin);
  expect([answer.statusCode, answer.json()]).toEqual([
    502,
    expect.objectContaining({
      code: 'DIRECTORY_UNAVAILABLE',
      message: expect.stringContaining('a person of more than 1 MiB'),
    }),
  ]);
});
