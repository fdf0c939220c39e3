import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { zipOf } from '@portal/testing/zip';
import { testApp } from '../../testing/app.ts';
import { startApi } from '../../testing/process.ts';

const { make, url: databaseUrl, cookieOf } = await testApp();
const api = await startApi(databaseUrl);
const sample = (name: string) => certificateSample(`generated/${name}`).bytes;
const leaf = sample('leaf-rsa.cert.pem');

/** An account of its own for each, or the limit of one would end the test. */
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

const sequence = (...parts: Buffer[]) => element(0x30, ...parts);
function element(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
}
const number = (hex: string) => element(0x02, Buffer.from(hex, 'hex'));
/** PKCS#1 with numbers of so many bytes. */
const rsaKeyOf = (bytes: number) => {
  const odd = `00${randomBytes(bytes).toString('hex')}01`;
  return sequence(number('00'), number(odd), number('010001'), ...Array.from({ length: 6 }, () => number(odd)));
};
function nested(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let n = 0; n < depth; n += 1) inner = sequence(inner);
  return inner;
}
/** The last number in a PFX is how often its password is hashed for the checksum. */
function withRounds(pfx: Buffer, rounds: number): Buffer {
  const changed = Buffer.from(pfx);
  // 30 82 … at its head, 02 02 08 00 at its end: one of four bytes takes the place of one of two.
  const number = Buffer.alloc(6);
  number.writeUInt16BE(0x0204);
  number.writeUInt32BE(rounds, 2);
  const longer = Buffer.concat([changed.subarray(0, -4), number]);
  longer.writeUInt16BE(longer.readUInt16BE(2) + 2, 2);
  const mac = longer.length - number.length - 2 - 8 - 2;
  for (let at = mac; at > 0; at -= 1) {
    if (longer[at] === 0x30 && at + 2 + (longer[at + 1] ?? 0) + 2 === longer.length) {
      longer[at + 1] = (longer[at + 1] ?? 0) + 2;
      return longer;
    }
  }
  throw new Error('The sample has another form.');
}

const hostile: [string, () => Buffer[]][] = [
  ['20 MB of random bytes', () => [randomBytes(20_000_000)]],
  ['a MB of random bytes, nine times', () => Array.from({ length: 9 }, () => randomBytes(1_000_000))],
  [
    'random bytes that begin as DER does',
    () => [Buffer.concat([Buffer.from('308400fffff0', 'hex'), randomBytes(1_000_000)])],
  ],
  ['100,000 blocks of PEM', () => [Buffer.from('-----BEGIN X-----'.repeat(60_000))]],
  [
    '100,000 blocks of PEM in ten files',
    () =>
      Array.from({ length: 10 }, () =>
        Buffer.from('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'.repeat(10_000)),
      ),
  ],
  ['ASN.1 10,000 deep', () => [nested(10_000)]],
  ['ASN.1 10,000 deep in a PFX', () => [sequence(number('03'), sequence(nested(10_000)))]],
  [
    'ASN.1 10,000 deep in a P7B',
    () => [sequence(element(0x06, Buffer.from('2a864886f70d010702', 'hex')), nested(10_000))],
  ],
  ['an RSA key of 16 bits', () => [rsaKeyOf(1)]],
  ['an RSA key of 65,536 bits', () => [rsaKeyOf(8_192)]],
  ['a PFX of 2^31 rounds', () => [withRounds(sample('leaf-rsa.aes256-sha256mac.pfx'), 2 ** 31)]],
  ['a PFX of 2^31 - 1 rounds', () => [withRounds(sample('leaf-rsa.aes256-sha256mac.pfx'), 2 ** 31 - 1)]],
  [
    'archives in an archive',
    () => [
      zipOf(
        Array.from({ length: 16 }, (_, n) => ({
          name: `${n}.zip`,
          bytes: zipOf([{ name: 'x', bytes: Buffer.alloc(50_000) }]),
        })),
      ),
    ],
  ],
  ['a million entries', () => [zipOf([{ name: 'a', bytes: leaf }], { entryCount: 1_000_000 })]],
  ['a ZIP of zeros', () => [zipOf([{ name: 'a', bytes: Buffer.alloc(20_000_000) }])]],
];

describe('hostile files', () => {
  // With processes that are warm already.
  beforeAll(() => upload([leaf]));

  it.each(hostile)('%s are refused or rejected', { timeout: 120_000 }, async (_what, make) => {
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
    'cost the API no memory and keep it answering',
    { timeout: 300_000 },
    async () => {
      const before = await api.memoryMiB();
      let most = before;
      let isOver = false;
      const watch = (async () => {
        while (!isOver) {
          most = Math.max(most, await api.memoryMiB());
          expect(await api.health()).toBe(200);
          await pause(20);
        }
      })();
      for (const [, make] of hostile) await upload(make());
      isOver = true;
      await watch;
      expect(most - before).toBeLessThanOrEqual(64);
    },
  );

  it('do not hide good ones beside them', async () => {
    const { parts, rejected } = analysisIn(await upload([nested(10_000), randomBytes(1_000), leaf]));
    expect(parts.map(({ kind }) => kind)).toEqual(['server']);
    expect(rejected).toHaveLength(2);
  });
});

it(
  'of fifty analyses at once those that cannot wait are told to come back, the others are right',
  { timeout: 120_000 },
  async () => {
    const accounts = await Promise.all(Array.from({ length: 10 }, () => make.user({ role: 'ADMIN' })));
    const cookies = await Promise.all(accounts.map((account) => cookieOf(account)));
    // Nobody knows its password, which takes a while to find out.
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
  },
);
