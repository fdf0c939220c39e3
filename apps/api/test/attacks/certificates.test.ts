import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { hostileCertificates, nested, slowKeys, withRounds } from '@portal/testing/hostile-certificates';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { make, url: databaseUrl, cookieOf } = await testApp();
const api = await startApi(databaseUrl);
const sample = (name: string) => certificateSample(`generated/${name}`).bytes;
const leaf = sample('leaf-rsa.cert.pem');

/** Uses a new account for each upload by default, because the rate limit of one account would end the test. */
async function upload(files: Buffer[], { cookie, password }: { cookie?: string; password?: string } = {}) {
  const form = new FormData();
  for (const [n, bytes] of files.entries()) form.append('files', new Blob([Uint8Array.from(bytes)]), `file-${n}`);
  if (password !== undefined) form.append('password', password);
  const answer = await fetch(new URL('/certificates/analyze', api.url), {
    method: 'POST',
    headers: { cookie: cookie ?? (await cookieOf(await make.user({ role: 'ADMIN' }))) },
    body: form,
  });
  const body: unknown = await answer.json();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body };
}
const analysisIn = ({ body }: { body: unknown }) => CertificateAnalysis.decode(body as never);

describe('hostile files', () => {
  // Starts the sandbox processes before the tests.
  beforeAll(() => upload([leaf]));

  it.each(hostileCertificates)('%s are refused or rejected', { timeout: 120_000 }, async (_what, make) => {
    const answer = await upload(make(), { password: 'sample' });
    if (answer.status === 200) {
      const { parts, locked, rejected } = analysisIn(answer);
      expect(parts.filter(({ kind }) => kind !== 'key')).toEqual([]);
      expect(parts.length + locked.length + rejected.length).toBeGreaterThan(0);
    } else {
      expect([400, 413]).toContain(answer.status);
    }
  });

  it.runIf(process.platform === 'linux')(
    'cost the API no memory and do not block it',
    { timeout: 300_000 },
    async () => {
      const before = await api.memoryMiB();
      let peak = before;
      let isOver = false;
      const watch = (async () => {
        while (!isOver) {
          peak = Math.max(peak, await api.memoryMiB());
          expect(await api.health()).toBe(200);
          await pause(20);
        }
      })();
      for (const [, make] of hostileCertificates) await upload(make());
      isOver = true;
      await watch;
      expect(peak - before).toBeLessThanOrEqual(64);
    },
  );

  it('do not hide valid files beside them', async () => {
    const { parts, rejected } = analysisIn(await upload([nested(10_000), randomBytes(1_000), leaf]));
    expect(parts.map(({ kind }) => kind)).toEqual(['server']);
    expect(rejected).toHaveLength(2);
  });
});

it('fifty concurrent analyses are answered correctly or with 503 and Retry-After', { timeout: 120_000 }, async () => {
  const accounts = await Promise.all(Array.from({ length: 10 }, () => make.user({ role: 'ADMIN' })));
  const cookies = await Promise.all(accounts.map((account) => cookieOf(account)));
  // The test does not know its password, and 100,000 rounds make the check slow.
  const slow = withRounds(sample('leaf-rsa.aes256-sha256mac.pfx'), 100_000);
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => upload([leaf, key, slow], { cookie: cookies[n % 10] ?? '' })),
  );
  const right = answers.filter(({ status }) => status === 200);
  expect(right.length).toBeGreaterThanOrEqual(20);
  for (const answer of right) expect(analysisIn(answer).parts.map(({ kind }) => kind)).toEqual(['server', 'key']);
  expect(right.length).toBeLessThan(50);
  for (const answer of answers.filter((one) => !right.includes(one)))
    expect(answer).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
});

it(
  'slow keys from three accounts of one tenant do not delay other tenants for long',
  { timeout: 180_000 },
  async () => {
    const slow = Buffer.concat(slowKeys(12));
    const { id: tenantId } = await make.tenant();
    const attackers = await Promise.all(
      Array.from({ length: 3 }, async () => cookieOf(await make.user({ tenantId, role: 'ADMIN' }))),
    );
    const cookie = await cookieOf(await make.user({ role: 'ADMIN' }));
    let isOver = false;
    const attack = Promise.all(
      Array.from({ length: 30 }, (_, n) => upload([slow], { cookie: attackers[n % 3] ?? '', password: 'sample' })),
    ).finally(() => (isOver = true));
    const others: number[] = [];
    const accounting = async () => {
      const form = new FormData();
      form.append('file', new Blob(['PNR;Betrag\n1;1,00\n']), 'list');
      form.append('month', '2026-11');
      const answer = await fetch(new URL('/accounting/canteen/preview', api.url), {
        method: 'POST',
        headers: { cookie },
        body: form,
      });
      await answer.body?.cancel();
      return answer.status;
    };
    do {
      others.push((await upload([leaf], { cookie })).status, await accounting());
      await pause(200);
    } while (!isOver && others.length < 40);
    expect(new Set(others)).toEqual(new Set([200]));
    const answers = await attack;
    // 429 on a slow machine, where the tenant's budget is used up.
    expect([200, 429, 503]).toEqual(expect.arrayContaining(answers.map(({ status }) => status)));
    expect(answers.some(({ status }) => status === 503)).toBe(true);
    for (const answer of answers) {
      if (answer.status !== 200) expect(answer.retryAfter).toMatch(/^\d+$/);
      else expect(analysisIn(answer).rejected).toMatchObject([{ file: 'file-0', reason: 'TOO_LARGE' }]);
    }
  },
);
