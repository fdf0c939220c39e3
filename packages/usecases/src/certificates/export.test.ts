import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAnalysis, CertificateExport, ExportFormat } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { serviceBinary } from '@portal/testing/services';
import { run as analyze } from './analysis-task.ts';
import { run } from './export-task.ts';
import { safeFileName } from './writing/file-name.ts';

const pem = (name: string) => certificateSample(`generated/${name}.pem`).bytes.toString();
const certificateOf = (name: string) => pem(`${name}.cert`);
const partsOf = (leaf: string) => ({
  certificatePem: certificateOf(leaf),
  privateKeyPem: pem(`${leaf}.key`),
  csrPem: pem(`${leaf}.csr`),
  // Not in order.
  chainPems: [certificateOf('root-rsa'), certificateOf('int-rsa')],
  password: 'Grüße, 5 €!',
});
const make = (input: Partial<CertificateExport> & { format: ExportFormat }) => run(CertificateExport.parse(input));
const leaves = ['leaf-rsa', 'leaf-ec', 'leaf-ed25519'];
const keyTypes: Record<string, string> = { 'leaf-rsa': 'RSA 2048', 'leaf-ec': 'EC P-256', 'leaf-ed25519': 'Ed25519' };

async function read(bytes: Uint8Array, password?: string): Promise<CertificateAnalysis> {
  const json = await analyze({ files: [{ name: 'file', bytes }], password });
  return CertificateAnalysis.decode(JSON.parse(Buffer.from(json).toString()));
}

describe('parts keep their fingerprints when analyzed, exported and analyzed again', () => {
  it.each(leaves)('%s', async (leaf) => {
    const { certificatePem, privateKeyPem, csrPem, chainPems, password } = partsOf(leaf);
    const bundle = [privateKeyPem, ...chainPems, certificatePem, csrPem].join('\n');
    const before = await read(Buffer.from(bundle));
    const idsOf = ({ parts }: CertificateAnalysis, ...kinds: string[]) =>
      parts.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);
    const pemsOf = (...kinds: string[]) =>
      before.parts.filter(({ kind }) => kinds.includes(kind)).map((part) => part.pem);
    const input = {
      certificatePem: pemsOf('server')[0],
      privateKeyPem: pemsOf('key')[0],
      csrPem: pemsOf('csr')[0],
      chainPems: pemsOf('intermediate', 'root'),
      password,
    };
    const chain = ['server', 'intermediate'];
    const exportedKinds: Partial<Record<ExportFormat, string[]>> = {
      crt: ['server'],
      cer: ['server'],
      fullchain: chain,
      p7b: chain,
      pfx: [...chain, 'key'],
      'key-pkcs8': ['key'],
      'key-der': ['key'],
      'csr-pem': ['csr'],
      'csr-der': ['csr'],
    };
    for (const format of ExportFormat.options) {
      const kinds = exportedKinds[format];
      if (!kinds) continue;
      const after = await read((await make({ ...input, format })).bytes, password);
      expect(after.rejected).toEqual([]);
      expect(idsOf(after, 'server', 'intermediate', 'root', 'key', 'csr')).toEqual(idsOf(before, ...kinds));
      expect(after.parts[0]?.keyType).toBe(keyTypes[leaf]);
    }
    const legacy = await make({ ...input, format: 'pfx', legacy: true, includeRoot: true });
    expect(idsOf(await read(legacy.bytes, password), 'server', 'intermediate', 'root', 'key')).toEqual(
      idsOf(before, 'server', 'intermediate', 'root', 'key'),
    );
  });
});

describe.skipIf(!serviceBinary('openssl'))('OpenSSL accepts', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'portal-openssl-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  function fileOf(bytes: Uint8Array | string): string {
    const path = join(folder, String((files += 1)));
    writeFileSync(path, bytes);
    return path;
  }
  /** Standard output and standard error of the program. Throws if it fails. */
  function openssl(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(serviceBinary('openssl') ?? '', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout + stderr;
  }
  const subjectsIn = (text: string) => [...text.matchAll(/^ *subject=.*CN = (.*)$/gim)].map(([, name]) => name);
  const authority = 'Sample Issuing CA RSA';

  describe.each(leaves)('%s', (leaf) => {
    const parts = partsOf(leaf);
    let name = '';
    let publicKey = '';
    beforeAll(() => {
      [name = ''] = subjectsIn(openssl('x509', '-noout', '-subject', '-in', fileOf(parts.certificatePem)));
      publicKey = openssl('pkey', '-pubout', '-in', fileOf(parts.privateKeyPem)).trim();
    });

    it.each([
      ['crt', ['x509', '-noout', '-subject']],
      ['cer', ['x509', '-inform', 'DER', '-noout', '-subject']],
      ['csr-pem', ['req', '-verify', '-noout', '-subject']],
      ['csr-der', ['req', '-inform', 'DER', '-verify', '-noout', '-subject']],
    ] as const)('%s', async (format, args) => {
      const { bytes } = await make({ ...parts, format });
      expect(subjectsIn(openssl(...args, '-in', fileOf(bytes)))).toEqual([name]);
    });

    it.each(
      leaf === 'leaf-rsa' ? (['key-pkcs8', 'key-der', 'key-pkcs1'] as const) : (['key-pkcs8', 'key-der'] as const),
    )('%s', async (format) => {
      const { bytes } = await make({ ...parts, format });
      const form = format === 'key-der' ? 'DER' : 'PEM';
      expect(openssl('pkey', '-inform', form, '-pubout', '-in', fileOf(bytes))).toContain(publicKey);
    });

    it('fullchain: leaf first, root only on request, LF line ends', async () => {
      const { bytes } = await make({ ...parts, format: 'fullchain' });
      expect(Buffer.from(bytes).includes('\r')).toBe(false);
      const chain = fileOf(bytes);
      expect(openssl('verify', '-CAfile', fileOf(certificateOf('root-rsa')), '-untrusted', chain, chain)).toContain(
        'OK',
      );
      const whole = await make({ ...parts, format: 'fullchain', includeRoot: true });
      const blocks = (text: Uint8Array) =>
        Buffer.from(text)
          .toString()
          .split(/(?<=-----END CERTIFICATE-----\n)/);
      const names = (text: Uint8Array) =>
        blocks(text).flatMap((block) => subjectsIn(openssl('x509', '-noout', '-subject', '-in', fileOf(block))));
      expect(names(bytes)).toEqual([name, authority]);
      expect(names(whole.bytes)).toEqual([name, authority, 'Sample Root RSA']);
    });

    it('p7b', async () => {
      const { bytes } = await make({ ...parts, format: 'p7b', includeRoot: true });
      const text = openssl('pkcs7', '-inform', 'DER', '-print_certs', '-noout', '-in', fileOf(bytes));
      expect(subjectsIn(text).toSorted()).toEqual([name, authority, 'Sample Root RSA'].toSorted());
    });

    it.each([
      { legacy: false, output: ['PBES2, PBKDF2, AES-256-CBC', 'Iteration 100000, PRF hmacWithSHA256', 'MAC: sha256'] },
      { legacy: true, output: ['pbeWithSHA1And3-KeyTripleDES-CBC', 'MAC: sha1'] },
    ])('pfx, $legacy', async ({ legacy, output }) => {
      const { bytes } = await make({ ...parts, format: 'pfx', legacy, friendlyName: 'Müller & Söhne' });
      const pass = ['-passin', `pass:${parts.password}`, '-nodes', ...(legacy ? ['-legacy'] : [])];
      const text = openssl('pkcs12', '-info', ...pass, '-in', fileOf(bytes));
      for (const line of output) expect(text).toContain(line);
      expect(subjectsIn(text)).toEqual([name, authority]);
      // Only the key and its certificate have them.
      const sha1 = openssl('x509', '-noout', '-fingerprint', '-sha1', '-in', fileOf(parts.certificatePem));
      const localKeyId = /=(.*)/.exec(sha1)?.[1]?.replaceAll(':', ' ');
      expect([...text.matchAll(/localKeyID: (.*)/g)].map(([, id]) => id?.trim())).toEqual([localKeyId, localKeyId]);
      expect(text.match(/friendlyName: .*/g)).toHaveLength(2);
      const [key = ''] = /-----BEGIN PRIVATE KEY-----[^]*-----END PRIVATE KEY-----/.exec(text) ?? [];
      expect(openssl('pkey', '-pubout', '-in', fileOf(key))).toContain(publicKey);
      const wrong = ['-passin', 'pass:wrong', '-noout', ...(legacy ? ['-legacy'] : [])];
      expect(() => openssl('pkcs12', ...wrong, '-in', fileOf(bytes))).toThrow('Mac verify error');
    });
  });

  it('files written by OpenSSL are read, with any protection', async () => {
    const { certificatePem, privateKeyPem } = partsOf('leaf-rsa');
    const [certificate, key, out] = [fileOf(certificatePem), fileOf(privateKeyPem), fileOf('')];
    const protections = [
      [],
      ['-legacy'],
      ['-nomac'],
      ['-keypbe', 'AES-128-CBC', '-certpbe', 'NONE'],
      ['-keypbe', 'NONE', '-certpbe', 'NONE', '-nomac'],
      ['-macalg', 'sha512'],
      ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'AES-256-CBC'],
    ];
    for (const password of ['Grüße, 5 €!', 'sample', '']) {
      for (const options of protections) {
        openssl(
          'pkcs12',
          '-export',
          '-in',
          certificate,
          '-inkey',
          key,
          '-out',
          out,
          '-passout',
          `pass:${password}`,
          ...options,
        );
        const { parts, locked, rejected } = await read(readFileSync(out), password || undefined);
        expect([...parts.map(({ kind }) => kind), ...locked, ...rejected], options.join(' ')).toEqual([
          'server',
          'key',
        ]);
      }
    }
  });
});

describe('an export is refused', () => {
  const { password: _password, ...parts } = partsOf('leaf-rsa');
  it.each<[string, Partial<CertificateExport> & { format: ExportFormat }, string]>([
    [
      'with the key of another certificate',
      { ...partsOf('leaf-ec'), format: 'pfx', privateKeyPem: pem('leaf-rsa.key') },
      'KEY_MISMATCH',
    ],
    ['as a PFX without a password', { ...parts, format: 'pfx' }, 'PASSWORD_REQUIRED'],
    ['as a PFX with an empty password', { ...parts, format: 'pfx', password: '' }, 'PASSWORD_REQUIRED'],
    ['as a PFX without a key', { ...parts, format: 'pfx', password: 'x', privateKeyPem: undefined }, 'MISSING_PART'],
    ['without a certificate', { format: 'crt', privateKeyPem: parts.privateKeyPem }, 'MISSING_PART'],
    ['with an empty certificate', { format: 'fullchain', certificatePem: ' ' }, 'MISSING_PART'],
    ['without a request', { format: 'csr-der', certificatePem: parts.certificatePem }, 'MISSING_PART'],
    ['without a key', { format: 'key-pkcs8', certificatePem: parts.certificatePem }, 'MISSING_PART'],
    ['as PKCS#1 of an EC key', { format: 'key-pkcs1', privateKeyPem: pem('leaf-ec.key') }, 'FORMAT_NOT_FOR_KEY_TYPE'],
    [
      'as PKCS#1 of an Ed25519 key',
      { format: 'key-pkcs1', privateKeyPem: pem('leaf-ed25519.key') },
      'FORMAT_NOT_FOR_KEY_TYPE',
    ],
    [
      'of an encrypted key without its password',
      { format: 'key-der', privateKeyPem: pem('leaf-rsa.key.pkcs8-enc-aes256') },
      'PASSWORD_REQUIRED',
    ],
    ['of text that is not a certificate', { format: 'crt', certificatePem: 'nothing' }, 'VALIDATION_FAILED'],
    ['with a key as the certificate', { format: 'crt', certificatePem: parts.privateKeyPem }, 'VALIDATION_FAILED'],
    ['with a certificate as the key', { format: 'key-der', privateKeyPem: parts.certificatePem }, 'VALIDATION_FAILED'],
    [
      'of a truncated certificate',
      { format: 'cer', certificatePem: parts.certificatePem.slice(0, 600) },
      'VALIDATION_FAILED',
    ],
    ['of a chain that cannot be read', { ...parts, format: 'p7b', chainPems: ['-----BEGIN'] }, 'VALIDATION_FAILED'],
  ])('%s', async (_what, input, code) => {
    await expect(make(input)).rejects.toMatchObject({ name: 'PortalError', kind: 'invalid', code });
  });

  it('an encrypted key is opened with the password', async () => {
    const input = {
      format: 'key-pkcs8',
      privateKeyPem: pem('leaf-rsa.key.pkcs8-enc-aes256'),
      password: 'sample',
    } as const;
    const { bytes } = await make(input);
    expect((await read(bytes)).parts[0]?.id).toBe((await read(Buffer.from(pem('leaf-rsa.key')))).parts[0]?.id);
  });
});

it.each([
  ['www.example.test', 'www.example.test'],
  ['*.example.test', 'wildcard.example.test'],
  ['Müller & Söhne GmbH', 'Müller-Söhne-GmbH'],
  ['../../etc/passwd', 'etc-passwd'],
  ['a\r\nSet-Cookie: x', 'a-Set-Cookie-x'],
  ['con', 'certificate'],
  ['aux.example', 'certificate'],
  ['…', 'certificate'],
  ['', 'certificate'],
  ['x'.repeat(300), 'x'.repeat(80)],
])('the file for %j is named %j', (name, expected) => {
  expect(safeFileName(name)).toBe(expected);
});

it('a file is named after the common name', async () => {
  const names = await Promise.all(
    (['crt', 'fullchain', 'p7b', 'pfx', 'key-pkcs8', 'csr-der'] as const).map((format) =>
      make({ ...partsOf('leaf-rsa'), format }),
    ),
  );
  expect(names.map(({ name, type }) => [name, type])).toEqual([
    ['www.example.test.crt', 'application/x-pem-file'],
    ['www.example.test.pem', 'application/x-pem-file'],
    ['www.example.test.p7b', 'application/x-pkcs7-certificates'],
    ['www.example.test.pfx', 'application/x-pkcs12'],
    ['www.example.test.key', 'application/x-pem-file'],
    ['www.example.test.csr', 'application/pkcs10'],
  ]);
});
