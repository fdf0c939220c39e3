import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { serviceBinary } from '@portal/testing/services';
import { zipOf } from '@portal/testing/zip';
import { testApp } from '../../testing/app.ts';

const { request, make, logLines } = await testApp();
const admin = await make.user({ role: 'ADMIN' });
type Account = typeof admin;

const sample = (name: string) => certificateSample(`generated/${name}`);

async function upload(as: Account, files: { name: string; bytes: Uint8Array }[], password?: string) {
  const form = new FormData();
  for (const { name, bytes } of files) form.append('files', new Blob([Buffer.from(bytes)]), name);
  if (password !== undefined) form.append('password', password);
  const response = new Response(form);
  return request({
    method: 'POST',
    url: '/certificates/analyze',
    as,
    headers: { 'content-type': response.headers.get('content-type') ?? '' },
    payload: Buffer.from(await response.arrayBuffer()),
  });
}
async function analyze(...given: Parameters<typeof upload>): Promise<CertificateAnalysis> {
  const answer = await upload(...given);
  expect(answer.statusCode).toBe(200);
  return CertificateAnalysis.decode(answer.json());
}
const exportAs = (as: Account, payload: Record<string, unknown>) =>
  request({ method: 'POST', url: '/certificates/export', as, payload });
const auditOf = async (as: Account) =>
  (await request({ url: '/audit-log', query: { action: 'certificates.export_key' }, as })).json<
    { summary: string }[]
  >();

describe('POST /certificates/analyze', () => {
  it('returns the contents of a shuffled bundle, and stores nothing', async () => {
    const answer = await upload(
      admin,
      [sample('mixed-shuffled-duplicate.pem'), sample('leaf-ec.aes256.pfx')],
      'sample',
    );
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    const { parts, chains } = CertificateAnalysis.decode(answer.json());
    expect(parts.map(({ kind }) => kind)).toEqual(['server', 'server', 'intermediate', 'root', 'key', 'key', 'csr']);
    expect(chains.map(({ isComplete }) => isComplete)).toEqual([true, true]);
    expect(JSON.stringify(logLines)).not.toMatch(/sample|mixed-shuffled|PRIVATE KEY/);
  });

  it('accepts a ZIP, even if it is larger than the limit for a file', async () => {
    const entries = [
      { name: 'vendor/leaf.crt', bytes: sample('leaf-rsa.cert.pem').bytes },
      ...Array.from({ length: 3 }, (_, n) => ({ name: `noise/${n}`, bytes: noise(600_000) })),
    ];
    const { parts, rejected } = await analyze(admin, [{ name: 'all.zip', bytes: zipOf(entries) }]);
    expect(parts.map(({ files }) => files)).toEqual([['vendor/leaf.crt']]);
    expect(rejected.map(({ file, reason }) => [file, reason])).toEqual(
      [0, 1, 2].map((n) => [`noise/${n}`, 'UNSUPPORTED']),
    );
  });

  it('shows file names without unprintable characters', async () => {
    const { parts } = await analyze(admin, [
      { name: '../etc/leaf\u202egpj.pem', bytes: sample('leaf-rsa.cert.pem').bytes },
    ]);
    expect(parts[0]?.files).toEqual(['leafgpj.pem']);
  });

  const small = { name: 'a', bytes: Buffer.from('a') };
  it.each([
    ['51 files', Array.from({ length: 51 }, () => small), 'TOO_MANY_FILES'],
    ['a file of more than 1 MiB', [{ name: 'a', bytes: noise(1_048_577) }], 'TOO_LARGE'],
    ['more than 10 MiB', Array.from({ length: 11 }, () => ({ name: 'a', bytes: noise(1_000_000) })), 'TOO_LARGE'],
    ['20 MB of random bytes', [{ name: 'a', bytes: noise(20_000_000) }], 'TOO_LARGE'],
    [
      'a ZIP of zeros',
      [{ name: 'a', bytes: zipOf([{ name: 'a', bytes: Buffer.alloc(5_000_000) }]) }],
      'ARCHIVE_TOO_LARGE',
    ],
  ])('refuses %s', async (_what, files, code) => {
    const answer = await upload(admin, files);
    expect([answer.statusCode, answer.json().code]).toEqual([413, code]);
  });

  it('refuses an upload without files', async () => {
    const answer = await upload(admin, [], 'sample');
    expect([answer.statusCode, answer.json().details]).toEqual([400, [{ path: 'files', message: 'must be a file' }]]);
  });

  it('is open to users of the module, with a limit of 30 calls a minute', async () => {
    const user = await make.user();
    const leaf = [sample('leaf-rsa.cert.pem')];
    expect((await upload(user, leaf)).json().code).toBe('MODULE_ACCESS_DENIED');
    const boss = await make.user({ role: 'ADMIN', tenantId: user.tenantId });
    const granted = await request({
      method: 'PUT',
      url: '/module-grants',
      as: boss,
      payload: { moduleKey: 'certificate-manager', subjectType: 'user', subjectId: user.id, level: 'USE' },
    });
    expect(granted.statusCode).toBeLessThan(300);
    for (let n = 0; n < 30; n += 1) expect((await upload(user, leaf)).statusCode).toBe(200);
    const refused = await upload(user, leaf);
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('counts calls that found no room against that limit too', async () => {
    const user = await make.user({ role: 'ADMIN' });
    const calls = Array.from({ length: 40 }, () => upload(user, [sample('leaf-rsa.cert.pem')]));
    const statuses = (await Promise.all(calls)).map(({ statusCode }) => statusCode);
    expect(new Set(statuses)).toEqual(new Set([200, 503, 429]));
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });
});

describe('POST /certificates/export', () => {
  it('creates a PFX from an analyzed bundle that OpenSSL opens, and notes the owner of the key', async () => {
    const { parts } = await analyze(admin, [sample('mixed-shuffled-duplicate.pem')]);
    const pemOf = (kind: string) => parts.find((part) => part.kind === kind)?.pem;
    const answer = await exportAs(admin, {
      format: 'pfx',
      certificatePem: pemOf('server'),
      privateKeyPem: pemOf('key'),
      chainPems: [pemOf('root'), pemOf('intermediate')],
      password: 'four loud herons',
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-pkcs12',
      'content-disposition': 'attachment; filename=www.example.test.pfx',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const [note] = await auditOf(admin);
    expect(note?.summary).toBe('Exported a private key as pfx for www.example.test.');
    const openssl = serviceBinary('openssl');
    if (openssl === null) return;
    const file = join(tmpdir(), `portal-export-${process.pid}.pfx`);
    writeFileSync(file, answer.rawPayload);
    try {
      const args = ['pkcs12', '-in', file, '-nodes', '-passin', 'pass:four loud herons'];
      expect(execFileSync(openssl, args, { encoding: 'utf8' }).match(/BEGIN \w+/g)).toHaveLength(3);
    } finally {
      rmSync(file);
    }
  });

  it('does not note an export without a key', async () => {
    const other = await make.user({ role: 'ADMIN' });
    const certificatePem = sample('leaf-rsa.cert.pem').bytes.toString();
    const answer = await exportAs(other, { format: 'fullchain', certificatePem });
    expect(answer.body).toBe(certificatePem);
    expect(await auditOf(other)).toEqual([]);
  });

  it.each([
    [{ format: 'pem' }, 'VALIDATION_FAILED'],
    [{ format: 'pfx' }, 'MISSING_PART'],
    [{ format: 'crt', certificatePem: 'x' }, 'VALIDATION_FAILED'],
    [{ format: 'crt', certificatePem: null }, 'VALIDATION_FAILED'],
    [{ format: 'key-pkcs1', privateKeyPem: sample('leaf-ec.key.pem').bytes.toString() }, 'FORMAT_NOT_FOR_KEY_TYPE'],
  ])('refuses %j', async (payload, code) => {
    const answer = await exportAs(admin, payload);
    expect([answer.statusCode, answer.json().code]).toEqual([400, code]);
  });
});

function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = 1; at < length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}
