import { expect, it } from 'vitest';
import { LdapConfigInput } from '@portal/domain/directory/config';
import { newId } from '@portal/domain/ids';
import { person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { openTcpGate, type TcpGate } from '@portal/testing/servers/tcp-gate';
import { serviceBinary } from '@portal/testing/services';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { testApp } from '../../testing/app.ts';

const { app, make, signedIn, runtime } = await testApp();
const password = 'directory secret';
const anna = person('anna', { password });
const passwordHash = await passwordHashing(runtime.system({ requestId: newId(), ip: null, userAgent: null })).hash(
  password,
);

let last = 0;
/** Signs in; returns the answer and its duration in milliseconds. */
async function knock(username: string, given: string) {
  const startedAt = performance.now();
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/auth/login',
    payload: { username, password: given },
    remoteAddress: `198.51.100.${(last += 1)}`,
  });
  return { username, statusCode, body, ms: performance.now() - startedAt };
}

async function directoryAccount(serverUrl: string): Promise<string> {
  const admin = await make.user({ role: 'ADMIN' });
  await putLdapConfig(await signedIn(admin), LdapConfigInput.parse({ serverUrl, baseDn: 'dc=example,dc=org' }));
  return (await make.user({ tenantId: admin.tenantId, ldapDn: anna.dn })).username;
}

it.skipIf(!serviceBinary('slapd'))(
  'refuses every kind of username after the same time, and does not delay successful sign-ins',
  { timeout: 120_000 },
  async () => {
    const slapd: TestSlapd = await startSlapd({ entries: [anna] });
    const silent: TcpGate = await openTcpGate(slapd.url);
    silent.hold();
    const closed = await openTcpGate(slapd.url);
    await closed.shut();
    try {
      const local = await make.user({ passwordHash });
      const names = {
        unknown: 'unknown-name',
        local: local.username,
        inactive: (await make.user({ passwordHash, isActive: false })).username,
        withoutDirectory: (await make.user({ ldapDn: anna.dn })).username,
        answering: await directoryAccount(slapd.url),
        silent: await directoryAccount(silent.url),
        away: await directoryAccount(closed.url),
      };
      // The first request discovers the outage; usually it comes from a real user of that directory.
      await knock(names.silent, 'wrong');
      const refused: Awaited<ReturnType<typeof knock>>[][] = [];
      for (let round = 0; round < 3; round += 1)
        refused.push(await Promise.all(Object.values(names).map((name) => knock(name, 'wrong'))));
      expect(new Set(refused.flat().map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
      // The best of three, because a busy machine may delay any of them.
      const times = Object.values(names).map((_, n) => Math.min(...refused.map((round) => round[n]?.ms ?? 0)));
      expect(Math.min(...times)).toBeGreaterThanOrEqual(5_000);
      expect(Math.max(...times) - Math.min(...times)).toBeLessThan(750);
      for (const name of [names.local, names.answering]) {
        const opened = await knock(name, password);
        expect(opened.statusCode).toBe(200);
        expect(opened.ms).toBeLessThan(4_000);
      }
      // A burst beyond the limit gets the same answers for every kind of name.
      const bursts = await Promise.all(
        [names.unknown, names.local, names.silent].map(async (name) => {
          last += 1;
          const from = `203.0.113.${last}`;
          const answers = await Promise.all(
            Array.from({ length: 60 }, () =>
              app.inject({
                method: 'POST',
                url: '/auth/login',
                payload: { username: name, password: 'wrong' },
                remoteAddress: from,
              }),
            ),
          );
          return answers.map(({ statusCode }) => statusCode).toSorted();
        }),
      );
      expect(bursts[1]).toEqual(bursts[0]);
      expect(bursts[2]).toEqual(bursts[0]);
    } finally {
      silent.letGo();
      await silent.shut();
      await slapd.stop();
    }
  },
);
