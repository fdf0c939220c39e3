import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { certificateSample, certificateSamples } from '@portal/testing/cert-samples';
import { slowKeys } from '@portal/testing/hostile-certificates';
import { serviceBinary } from '@portal/testing/services';
import { analysisOf } from './analysis.ts';
import { Deadline } from './reading/deadline.ts';
import { readFiles, type UploadedFile } from './reading/read-files.ts';

const noon = new Date('2026-11-21T12:00:00Z');

async function analyze(files: UploadedFile[], password?: string, now = noon): Promise<CertificateAnalysis> {
  const deadline = new Deadline(60_000);
  const analysis = analysisOf(await readFiles(files, password, deadline), now, deadline);
  return CertificateAnalysis.parse(CertificateAnalysis.encode(analysis));
}
const samples = (...names: string[]) =>
  names.map((name) => certificateSample(name.includes('/') ? name : `generated/${name}`));

/** An analysis in one line: parts with their warnings, chains with their length, and the reasons for unread files. */
function inShort({ parts, chains, locked, rejected }: CertificateAnalysis): string {
  return [
    ...parts.map(({ kind, keyType, warnings }) => [kind, keyType, ...warnings.map(({ code }) => code)].join(' ')),
    ...chains.map(({ path, isComplete }) => `${isComplete ? 'complete' : 'open'} chain of ${path.length}`),
    ...locked.map(({ reason }) => reason),
    ...rejected.map(({ reason }) => reason),
  ].join(' | ');
}

const rsaBundle = 'server RSA 2048 LONG_VALIDITY | intermediate RSA 2048 | key RSA 2048 | open chain of 2';
const rsaLeaf = 'server RSA 2048 LONG_VALIDITY KEY_MISSING | open chain of 1';
const p7b = 'server RSA 2048 LONG_VALIDITY KEY_MISSING | intermediate RSA 2048 | root RSA 2048 | complete chain of 3';

/** The expected result of each sample by password, from the README of the samples. */
const rows: Record<string, Record<string, string>> = {
  sample: {
    'generated/root-rsa.cert.pem': 'root RSA 2048',
    'generated/root-rsa.key.pem': 'key RSA 2048',
    'generated/root-ec.cert.pem': 'root EC P-384',
    'generated/root-ec.sec1.key.pem': 'key EC P-384',
    'generated/int-rsa.cert.pem': 'intermediate RSA 2048 | open chain of 1',
    'generated/int-rsa.cross-by-root-ec.cert.pem': 'intermediate RSA 2048 | open chain of 1',
    'generated/int-rsa.key.pem': 'key RSA 2048',
    'generated/leaf-rsa.cert.pem': rsaLeaf,
    'generated/leaf-rsa.cert.der.cer': rsaLeaf,
    'generated/leaf-rsa.cert.with-text.crt': rsaLeaf,
    'generated/leaf-rsa.expired.cert.pem': 'server RSA 2048 EXPIRED KEY_MISSING | open chain of 1',
    'generated/leaf-rsa.fullchain.pem':
      'server RSA 2048 LONG_VALIDITY KEY_MISSING | intermediate RSA 2048 | open chain of 2',
    'generated/leaf-rsa.key.pem': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs1.pem': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs1.der': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs8.der': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs1-legacy-enc.pem': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs8-enc-aes256.pem': 'key RSA 2048',
    'generated/leaf-rsa.key.pkcs8-enc-pbe3des.pem': 'key RSA 2048',
    'generated/leaf-rsa.csr.pem': 'csr RSA 2048',
    'generated/leaf-rsa.csr.der': 'csr RSA 2048',
    'generated/leaf-rsa.csr.new-header.pem': 'csr RSA 2048',
    'generated/leaf-rsa.aes256-sha256mac.pfx': rsaBundle,
    'generated/leaf-rsa.legacy-rc2-40.pfx': rsaBundle,
    'generated/leaf-rsa.3des-sha1mac.pfx': rsaBundle,
    'generated/leaf-rsa.empty-password.pfx': rsaBundle,
    'generated/leaf-rsa.nomac-noenc.pfx': rsaBundle,
    'generated/truststore-only.pfx': 'root RSA 2048',
    'generated/chain.p7b': p7b,
    'generated/chain.der.p7b': p7b,
    'generated/mixed-shuffled-duplicate.pem':
      'server RSA 2048 LONG_VALIDITY | intermediate RSA 2048 | root RSA 2048 | key RSA 2048 | csr RSA 2048 | complete chain of 3',
    'generated/leaf-ec.cert.pem': 'server EC P-256 LONG_VALIDITY WILDCARD KEY_MISSING | open chain of 1',
    'generated/leaf-ec.key.pem': 'key EC P-256',
    'generated/leaf-ec.key.pkcs8-enc-des.pem': 'key EC P-256',
    'generated/leaf-ec.key.pkcs8-enc-rc2-128.pem': 'key EC P-256',
    'generated/leaf-ec.key.pkcs8-enc-rc2-40.pem': 'key EC P-256',
    'generated/leaf-ec.key.sec1.pem': 'key EC P-256',
    'generated/leaf-ec.key.sec1.der': 'key EC P-256',
    'generated/leaf-ec.key.pkcs8.der': 'key EC P-256',
    'generated/ec-with-params.key.pem': 'key EC P-256',
    'generated/leaf-ec.csr.pem': 'csr EC P-256',
    'generated/leaf-ec.aes256.pfx':
      'server EC P-256 LONG_VALIDITY WILDCARD | intermediate RSA 2048 | key EC P-256 | open chain of 2',
    'generated/leaf-ed25519.cert.pem': 'server Ed25519 LONG_VALIDITY KEY_MISSING | open chain of 1',
    'generated/leaf-ed25519.key.pem': 'key Ed25519',
    'generated/leaf-ed25519.csr.pem': 'csr Ed25519',
    'generated/leaf-ed25519.aes256.pfx':
      'server Ed25519 LONG_VALIDITY | intermediate RSA 2048 | key Ed25519 | open chain of 2',
    'generated/leaf-weak1024-sha1.key.pem': 'key RSA 1024 WEAK_KEY',
    'generated/leaf-weak1024-sha1.selfsigned.cert.pem':
      'server RSA 1024 WEAK_KEY LONG_VALIDITY WEAK_SIGNATURE NOT_CA KEY_MISSING | complete chain of 1',
    'generated/openssh-ed25519.key': 'UNSUPPORTED',
    'generated/openssh-ed25519.key.pub': 'UNSUPPORTED',
  },
  password: {
    'rustcrypto/ValidCertificatePathTest1EE_firefox.p12':
      'server RSA 2048 LONG_VALIDITY NO_SAN | key RSA 2048 | open chain of 1',
    'rustcrypto/ValidCertificatePathTest1EE_windows_aes.p12.pfx':
      'server RSA 2048 LONG_VALIDITY NO_SAN | key RSA 2048 | open chain of 1',
    'rustcrypto/ValidCertificatePathTest1EE_windows_tdes.p12.pfx':
      'server RSA 2048 LONG_VALIDITY NO_SAN | key RSA 2048 | open chain of 1',
    'rustcrypto/pkits_ee.p7b': 'server RSA 2048 LONG_VALIDITY NO_SAN KEY_MISSING | open chain of 1',
    'certigo/example-elliptic-sha1.p12':
      'server EC P-521 EXPIRED LONG_VALIDITY WEAK_SIGNATURE NOT_CA | key EC P-521 | complete chain of 1',
    'certigo/example-small-key.p12':
      'server RSA 1024 WEAK_KEY EXPIRED LONG_VALIDITY NOT_CA NO_SAN | key RSA 1024 WEAK_KEY | complete chain of 1',
    'certigo/example-expired.crt': 'server RSA 2048 EXPIRED NOT_CA NO_SAN KEY_MISSING | complete chain of 1',
    'certigo/example-leaf.jceks': 'UNSUPPORTED',
    'cfssl/emptypasswordpkcs12.p12': 'root RSA 2048 EXPIRED | key RSA 2048',
    'cfssl/cert_pkcs7.pem': 'server EC P-256 EXPIRED NOT_CA NO_SAN KEY_MISSING | complete chain of 1',
    'cfssl/inter-L1.pem': 'intermediate RSA 4096 WEAK_SIGNATURE | open chain of 1',
    'cfssl/inter-L1-expired.pem': 'intermediate RSA 4096 EXPIRED | open chain of 1',
    'cfssl/inter-L2.pem': 'intermediate EC P-384 | open chain of 1',
    'cfssl/messed_up_bundle.pem': 'intermediate RSA 4096 EXPIRED | open chain of 1 | DAMAGED',
  },
  mypassword: {
    'smallstep/extrajunkbundle.crt': 'server EC P-256 EXPIRED | intermediate EC P-256 | key EC P-256 | open chain of 2',
    'smallstep/nonPEMHeaderCa.crt': 'root EC P-256 EXPIRED',
    'smallstep/openssh.ed25519.enc.pem': 'UNSUPPORTED',
    'smallstep/openssh.p256.pem': 'UNSUPPORTED',
    'smallstep/openssl.ed25519.enc.pem': 'key Ed25519',
    'smallstep/openssl.p256.enc.pem': 'key EC P-256',
  },
};
const table = Object.entries(rows).flatMap(([password, list]) =>
  Object.entries(list).map(([path, expected]) => ({ path, password, expected })),
);

describe('each sample', () => {
  it('is in the table', () => {
    expect(table.map(({ path }) => path).toSorted()).toEqual(certificateSamples().map(({ path }) => path));
  });

  it.for(table)('$path', { timeout: 60_000 }, async ({ path, password, expected }) => {
    expect(inShort(await analyze([certificateSample(path)], password))).toBe(expected);
    // The result does not depend on the file name.
    const { bytes } = certificateSample(path);
    if (!path.includes('firefox')) expect(inShort(await analyze([{ name: 'x.txt', bytes }], password))).toBe(expected);
  });

  it.skipIf(!serviceBinary('openssl'))('has the same fingerprint as in OpenSSL, in any container', async () => {
    const text = execFileSync(
      serviceBinary('openssl') ?? '',
      ['x509', '-noout', '-fingerprint', '-sha256', '-serial', '-dates', '-dateopt', 'iso_8601'],
      { input: certificateSample('generated/leaf-rsa.cert.pem').bytes, encoding: 'utf8' },
    );
    const id = /Fingerprint=(.*)/.exec(text)?.[1]?.replaceAll(':', '').toLowerCase();
    for (const name of [
      'chain.der.p7b',
      'leaf-rsa.legacy-rc2-40.pfx',
      'leaf-rsa.aes256-sha256mac.pfx',
      'leaf-rsa.cert.der.cer',
    ]) {
      const { parts } = await analyze(samples(name), 'sample');
      expect(parts[0]).toMatchObject({ id, sha256: id, serialNumber: /serial=(.*)/.exec(text)?.[1] });
    }
    const { parts } = await analyze(samples('rustcrypto/ValidCertificatePathTest1EE_windows_aes.p12.pfx'), 'password');
    const p7b = await analyze(samples('rustcrypto/pkits_ee.p7b'));
    expect(parts.map(({ kind }) => kind)).toEqual(['server', 'key']);
    expect(p7b.parts[0]?.id).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('content decides', () => {
  const leaf = certificateSample('generated/leaf-rsa.cert.pem').bytes.toString();
  const p7b = certificateSample('generated/chain.p7b').bytes.toString();
  const base64Of = (pem: string) => pem.replace(/-----[^-]+-----/g, '').trim();

  it.each<[string, string | Buffer, string]>([
    ['a P7B under CERTIFICATE', p7b.replaceAll('PKCS7', 'CERTIFICATE'), 'complete chain of 3'],
    ['PEM in the middle of text', `Subject: your order\r\n\r\nHere it is:\n${leaf}Best regards`, rsaLeaf],
    ['PEM with Windows line ends', leaf.replaceAll('\n', '\r\n'), rsaLeaf],
    ['PEM in UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(leaf, 'utf16le')]), rsaLeaf],
    ['base64 without armour', base64Of(leaf), rsaLeaf],
    ['base64 in one line', base64Of(leaf).replaceAll('\n', ''), rsaLeaf],
    ['a certificate under TRUSTED CERTIFICATE', leaf.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE'), rsaLeaf],
    ['a certificate under PKCS7', leaf.replaceAll('CERTIFICATE', 'PKCS7'), rsaLeaf],
    ['a PFX in base64', certificateSample('generated/truststore-only.pfx').bytes.toString('base64'), 'root RSA 2048'],
    [
      'DER with a line end behind it',
      Buffer.concat([certificateSample('generated/leaf-rsa.csr.der').bytes, Buffer.from('\r\n')]),
      'csr RSA 2048',
    ],
  ])('%s', async (_what, bytes, expected) => {
    expect(inShort(await analyze([{ name: 'a.key', bytes: Buffer.from(bytes as string) }], 'sample'))).toContain(
      expected,
    );
  });

  it('ignores content that is not needed, and reports it', async () => {
    const key = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n';
    const { rejected, warnings } = await analyze([{ name: 'a.pem', bytes: Buffer.from(key + leaf) }]);
    expect(rejected).toEqual([]);
    expect(warnings).toContainEqual({
      code: 'UNSUPPORTED',
      part: null,
      message: 'a.pem: the PUBLIC KEY block was ignored.',
    });
  });

  it('the hint for an unsupported file contains a conversion command', async () => {
    const { rejected } = await analyze([
      ...samples('openssh-ed25519.key', 'certigo/example-leaf.jceks'),
      { name: 'store.jks', bytes: Buffer.from('feedfeed00000002', 'hex') },
    ]);
    expect(rejected.map(({ reason, hint }) => [reason, hint])).toEqual([
      ['UNSUPPORTED', expect.stringContaining('ssh-keygen -p -m PEM')],
      ['UNSUPPORTED', expect.stringContaining('-srcstoretype JCEKS')],
      ['UNSUPPORTED', expect.stringContaining('-srcstoretype JKS')],
    ]);
  });
});

describe('parts', () => {
  it('are merged across files, and match by their public key', async () => {
    const analysis = await analyze(
      samples(
        'leaf-rsa.key.pkcs1.der',
        'leaf-rsa.cert.der.cer',
        'mixed-shuffled-duplicate.pem',
        'leaf-rsa.aes256-sha256mac.pfx',
        'leaf-rsa.csr.new-header.pem',
        'leaf-ec.key.pem',
      ),
      'sample',
    );
    const [server] = analysis.parts;
    expect(analysis.parts.map(({ kind }) => kind)).toEqual(['server', 'intermediate', 'root', 'key', 'key', 'csr']);
    expect(server?.files).toEqual([
      'leaf-rsa.cert.der.cer',
      'mixed-shuffled-duplicate.pem',
      'leaf-rsa.aes256-sha256mac.pfx',
    ]);
    const matching = analysis.parts.filter(({ matches }) => matches.includes(server?.id ?? ''));
    expect(matching.map(({ kind, keyType }) => [kind, keyType])).toEqual([
      ['key', 'RSA 2048'],
      ['csr', 'RSA 2048'],
    ]);
    const unmatched = analysis.parts.find(({ keyType }) => keyType === 'EC P-256');
    expect(unmatched?.warnings.map(({ code }) => code)).toEqual(['KEY_MISMATCH']);
    expect(analysis.warnings).toContainEqual(unmatched?.warnings[0]);
  });

  it('have their names and keys', async () => {
    const { parts } = await analyze(samples('leaf-ec.cert.pem', 'leaf-ec.csr.pem', 'leaf-ec.key.sec1.pem'));
    const [server, key, csr] = parts;
    expect(server).toMatchObject({
      subject: 'C=DE, O=Beispiel GmbH, CN=ec.example.test',
      issuer: 'C=DE, O=Sample Test, CN=Sample Issuing CA RSA',
      sans: ['ec.example.test', '*.ec.example.test', '192.0.2.10'],
    });
    expect(key).toMatchObject({ subject: null, issuer: null, serialNumber: null, notBefore: null, sans: [] });
    expect(key?.pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(csr).toMatchObject({ issuer: null, sans: server?.sans, notAfter: null });
    expect(csr?.subject).toContain('CN=ec.example.test');
  });

  it.each([
    ['2036-11-01', 'EXPIRES_SOON'],
    ['2036-12-01', 'EXPIRED'],
    ['2020-01-01', 'NOT_YET_VALID'],
  ])('on %s a certificate has the warning %s', async (day, code) => {
    const { parts } = await analyze(samples('leaf-rsa.cert.pem'), undefined, new Date(day));
    expect(parts[0]?.warnings.map((warning) => warning.code)).toContain(code);
  });
});

describe('passwords', () => {
  it.each([
    ['leaf-rsa.aes256-sha256mac.pfx', undefined, 'PASSWORD_REQUIRED'],
    ['leaf-rsa.aes256-sha256mac.pfx', 'wrong', 'PASSWORD_WRONG'],
    ['leaf-rsa.legacy-rc2-40.pfx', '', 'PASSWORD_WRONG'],
    ['leaf-rsa.3des-sha1mac.pfx', 'Sample', 'PASSWORD_WRONG'],
    ['leaf-rsa.key.pkcs8-enc-aes256.pem', undefined, 'PASSWORD_REQUIRED'],
    ['leaf-rsa.key.pkcs8-enc-pbe3des.pem', 'wrong', 'PASSWORD_WRONG'],
    ['leaf-ec.key.pkcs8-enc-rc2-40.pem', 'wrong', 'PASSWORD_WRONG'],
    ['leaf-rsa.key.pkcs1-legacy-enc.pem', 'wrong', 'PASSWORD_WRONG'],
    ['leaf-rsa.empty-password.pfx', undefined, rsaBundle],
    ['leaf-rsa.empty-password.pfx', 'wrong', rsaBundle],
    ['leaf-rsa.nomac-noenc.pfx', undefined, rsaBundle],
    ['cfssl/emptypasswordpkcs12.p12', undefined, 'root RSA 2048 EXPIRED | key RSA 2048'],
  ])('%s under %j: %s', async (name, password, expected) => {
    expect(inShort(await analyze(samples(name), password))).toBe(expected);
  });

  it('a wrong password does not hide unlocked files', async () => {
    const { parts, locked, warnings } = await analyze(
      samples('leaf-rsa.aes256-sha256mac.pfx', 'leaf-rsa.empty-password.pfx', 'leaf-ec.cert.pem'),
      'wrong',
    );
    expect(parts.map(({ kind }) => kind)).toEqual(['server', 'server', 'intermediate', 'key']);
    expect(locked).toEqual([{ file: 'leaf-rsa.aes256-sha256mac.pfx', reason: 'PASSWORD_WRONG' }]);
    expect(warnings.map(({ code }) => code)).toContain('PASSWORD_WRONG');
  });

  it('a wrong checksum with the right password is reported as damage', async () => {
    for (const name of ['leaf-rsa.aes256-sha256mac.pfx', 'leaf-rsa.3des-sha1mac.pfx']) {
      const [sample] = samples(name);
      const bytes = Buffer.from(sample?.bytes ?? '');
      // Changes the salt of the checksum, which only the number of rounds follows.
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 8) ^ 1, bytes.length - 8);
      expect(inShort(await analyze([{ name, bytes }], 'sample'))).toBe('DAMAGED');
      expect(inShort(await analyze([{ name, bytes }], 'wrong'))).toBe('PASSWORD_WRONG');
    }
  });
});

describe('chains', () => {
  const paths = ({ parts, chains }: CertificateAnalysis) =>
    chains.map(({ path }) =>
      path.map((id) => parts.find((part) => part.id === id)?.subject?.match(/CN=(.*)/)?.[1] ?? id),
    );

  it('are built along every path, best first, regardless of the file order', async () => {
    const analysis = await analyze(
      samples(
        'root-ec.cert.pem',
        'leaf-rsa.cert.pem',
        'int-rsa.cross-by-root-ec.cert.pem',
        'root-rsa.cert.pem',
        'int-rsa.cert.pem',
      ),
    );
    // Both are equally short and complete, so the longer validity comes first.
    expect(paths(analysis)).toEqual([
      ['www.example.test', 'Sample Issuing CA RSA', 'Sample Root EC'],
      ['www.example.test', 'Sample Issuing CA RSA', 'Sample Root RSA'],
    ]);
    expect(analysis.chains.every(({ isComplete }) => isComplete)).toBe(true);
    expect(analysis.parts[0]?.warnings.map(({ code }) => code)).toContain('MULTIPLE_CHAINS');
  });

  it('are listed with complete ones first, and warn of missing certificates', async () => {
    const { chains } = await analyze(
      samples('int-rsa.cross-by-root-ec.cert.pem', 'leaf-rsa.cert.pem', 'root-rsa.cert.pem', 'int-rsa.cert.pem'),
    );
    expect(chains.map(({ isComplete, warnings }) => [isComplete, ...warnings.map(({ code }) => code)])).toEqual([
      [true],
      [false, 'ROOT_MISSING'],
    ]);
    const alone = await analyze(samples('leaf-rsa.cert.pem'));
    expect(alone.chains[0]?.warnings.map(({ code }) => code)).toEqual(['CHAIN_INCOMPLETE']);
  });

  it('prefer a valid intermediate to its expired twin', async () => {
    const twins = samples('cfssl/inter-L1-expired.pem', 'cfssl/inter-L1.pem', 'cfssl/inter-L2.pem');
    for (const files of [twins, twins.toReversed()]) {
      const { parts, chains } = await analyze(files);
      const valid = parts.find(({ files: names }) => names.includes('inter-L1.pem'));
      expect(chains.length).toBeGreaterThan(0);
      expect(chains[0]?.path[1]).toBe(valid?.id);
    }
  });
});

it(
  'keys that need too many rounds in total are rejected by name, before their derivation begins',
  { timeout: 60_000 },
  async () => {
    const files = slowKeys(12).map((bytes, n) => ({ name: `key-${n}.pem`, bytes }));
    const { parts, rejected } = await analyze(files, 'sample');
    expect(parts.map(({ files: [name] }) => name).toSorted()).toEqual(files.slice(0, 4).map(({ name }) => name));
    expect(rejected).toEqual(
      files
        .slice(4)
        .map(({ name }) => ({ file: name, reason: 'TOO_LARGE', hint: expect.stringContaining('rounds in total') })),
    );
  },
);
