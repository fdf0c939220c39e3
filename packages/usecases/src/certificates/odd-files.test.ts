import { describe, expect, it } from 'vitest';
import { CertificateAnalysis, CertificateExport, type ExportFormat } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { element, integer, octets, oid, sequence, tagged, utf8 } from '@portal/testing/der';
import {
  alternativeNames,
  authority,
  dnsName,
  extension,
  makeCertificate,
  makeRequest,
  pemBlock,
} from '@portal/testing/made-certificates';
import {
  aes256,
  bag,
  certificateBag,
  envelope,
  keyBag,
  listBag,
  lockedKeyBag,
  makePfx,
  pbes2,
  pbmac1,
  safe,
} from '@portal/testing/made-pfx';
import { run as analysisTask } from './analysis-task.ts';
import { run as exportTask } from './export-task.ts';
import { Findings } from './reading/findings.ts';

const leaf = certificateSample('generated/leaf-rsa.cert.pem');

async function analyze(files: Record<string, Uint8Array | string>, password?: string): Promise<CertificateAnalysis> {
  const named = Object.entries(files).map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes) }));
  return CertificateAnalysis.decode(JSON.parse(Buffer.from(await analysisTask({ files: named, password })).toString()));
}
const make = (input: Partial<CertificateExport> & { format: ExportFormat }) =>
  exportTask(CertificateExport.parse(input));
const pemOf = (key: { export: (options: { type: 'pkcs8'; format: 'pem' }) => string | Buffer }) =>
  String(key.export({ type: 'pkcs8', format: 'pem' }));

describe('a certificate without a subject', () => {
  const root = makeCertificate({ subject: 'Root', extensions: [authority()] });
  const server = makeCertificate({ issuer: root, extensions: [alternativeNames(dnsName('a.example'))] });

  it('is read like any other; the same applies without an issuer', async () => {
    const nameless = makeCertificate({});
    const { parts, chains, rejected } = await analyze({
      'server.pem': server.pem,
      'root.pem': root.pem,
      'nameless.pem': nameless.pem,
      'leaf.pem': leaf.bytes,
    });
    expect(rejected).toEqual([]);
    expect(parts.map(({ kind, subject, issuer, sans }) => ({ kind, subject, issuer, sans }))).toEqual([
      { kind: 'server', subject: null, issuer: 'CN=Root', sans: ['a.example'] },
      { kind: 'server', subject: null, issuer: null, sans: [] },
      expect.objectContaining({ kind: 'server', issuer: expect.stringContaining('Sample Issuing CA RSA') }),
      { kind: 'root', subject: 'CN=Root', issuer: 'CN=Root', sans: [] },
    ]);
    expect(chains).toContainEqual({
      leaf: parts[0]?.id,
      warnings: [],
      isComplete: true,
      path: [parts[0]?.id, parts[3]?.id],
    });
  });

  it('is exported under its first alternative name', async () => {
    const input = {
      certificatePem: server.pem,
      chainPems: [root.pem],
      privateKeyPem: pemOf(server.key),
      password: 'four loud herons',
    };
    for (const format of ['crt', 'cer', 'fullchain', 'p7b', 'pfx'] as const) {
      const file = await make({ ...input, format });
      expect(file).toMatchObject({ name: expect.stringMatching(/^a\.example\./), subject: 'a.example' });
      const { parts } = await analyze({ file: file.bytes }, input.password);
      expect(parts[0]).toMatchObject({ kind: 'server', subject: null });
    }
    const nameless = makeCertificate({});
    const file = await make({
      format: 'pfx',
      certificatePem: nameless.pem,
      privateKeyPem: pemOf(nameless.key),
      password: input.password,
    });
    expect(file).toMatchObject({ name: 'certificate.pfx', subject: null });
    expect((await analyze({ file: file.bytes }, input.password)).parts.map(({ kind }) => kind)).toEqual([
      'server',
      'key',
    ]);
  });
});

describe('an extension that cannot be read', () => {
  const oddUsage = extension('2.5.29.31', octets());
  const root = makeCertificate({ subject: 'Root', extensions: [authority(0), oddUsage] });
  const between = makeCertificate({ subject: 'Between', issuer: root, extensions: [authority(), oddUsage] });
  const names = alternativeNames(dnsName('a.example'));
  const server = makeCertificate({ subject: 'a.example', issuer: between, extensions: [names] });
  const warningsOf = ({ parts }: CertificateAnalysis) =>
    parts.map(({ kind, warnings }) => [kind, ...warnings.map(({ code }) => code)]);

  it('loses only the content of that extension', async () => {
    const analysis = await analyze({ 'between.pem': between.pem, 'server.pem': server.pem });
    expect(analysis.rejected).toEqual([]);
    expect(warningsOf(analysis)).toEqual([
      ['server', 'LONG_VALIDITY', 'KEY_MISSING'],
      ['intermediate', 'UNSUPPORTED'],
    ]);
    expect(analysis.parts[1]?.warnings[0]?.message).toContain('2.5.29.31');
    expect(analysis.chains.map(({ path }) => path.length)).toEqual([2]);
  });

  it('does not hide the path length constraint', async () => {
    const { chains } = await analyze({ 'root.pem': root.pem, 'between.pem': between.pem, 'server.pem': server.pem });
    expect(chains.map(({ path, isComplete }) => [path.length, isComplete])).toEqual([[2, false]]);
  });

  it('can be the basic constraints, or an extension that appears twice', async () => {
    const bent = makeCertificate({
      subject: 'Bent',
      extensions: [extension('2.5.29.19', element(0x30, integer(1).subarray(1)))],
    });
    const twice = makeCertificate({ subject: 'Twice', extensions: [authority(), names, names] });
    expect(warningsOf(await analyze({ 'bent.pem': bent.pem, 'twice.pem': twice.pem }))).toEqual([
      ['server', 'LONG_VALIDITY', 'UNSUPPORTED', 'NOT_CA', 'NO_SAN', 'KEY_MISSING'],
      ['root', 'UNSUPPORTED'],
    ]);
  });

  it('does not prevent an export', async () => {
    const input = { certificatePem: server.pem, chainPems: [between.pem, root.pem], privateKeyPem: pemOf(server.key) };
    for (const format of ['fullchain', 'p7b', 'pfx'] as const) {
      const { bytes } = await make({ ...input, format, password: 'four loud herons' });
      const { parts } = await analyze({ file: bytes }, 'four loud herons');
      expect(parts.slice(0, 2).map(({ pem }) => pem.replaceAll(/\s/g, ''))).toEqual(
        [server.pem, between.pem].map((pem) => pem.replaceAll(/\s/g, '')),
      );
    }
  });
});

it('other names are shown with their type, in certificates and in requests', async () => {
  const otherName = (id: string, value: Buffer) => tagged(0, oid(id), tagged(0, value));
  const names = alternativeNames(
    dnsName('a.example'),
    otherName('1.3.6.1.4.1.311.20.2.3', utf8('ada@a.example, "x"')),
    otherName('1.3.6.1.5.5.7.8.9', utf8('äda@a.example')),
    otherName('1.3.6.1.5.5.7.8.7', element(0x16, Buffer.from('_imap.a.example'))),
    otherName('1.3.6.1.5.5.7.8.7', sequence()),
    otherName('1.2.3.4', utf8('what')),
    dnsName('b.example'),
  );
  const { parts } = await analyze({
    'a.pem': makeCertificate({ subject: 'One', extensions: [names] }).pem,
    'a.csr': makeRequest([names]),
  });
  expect(parts.map(({ kind }) => kind)).toEqual(['server', 'csr']);
  for (const { sans, warnings } of parts) {
    expect(sans).toEqual([
      'a.example',
      'UPN:ada@a.example, "x"',
      'SmtpUTF8Mailbox:äda@a.example',
      'SRVName:_imap.a.example',
      'otherName:1.3.6.1.5.5.7.8.7',
      'otherName:1.2.3.4',
      'b.example',
    ]);
    expect(warnings.map(({ code }) => code)).not.toContain('UNSUPPORTED');
  }
});

describe('a PKCS#7 file', () => {
  const signedData = oid('1.2.840.113549.1.7.2');
  const pkcs7 = (...parts: Buffer[]) => sequence(signedData, tagged(0, sequence(integer(1), ...parts)));
  const one = makeCertificate({ subject: 'One', extensions: [authority()] });

  it('with one invalid certificate returns the others', async () => {
    const { parts, rejected } = await analyze({ 'a.p7b': pkcs7(tagged(0, sequence(integer(1)), one.der)) });
    expect(parts.map(({ subject }) => subject)).toEqual(['CN=One']);
    expect(rejected).toEqual([{ file: 'a.p7b', reason: 'DAMAGED', hint: 'Something in it cannot be read.' }]);
  });

  it('can have indefinite lengths', async () => {
    const open = (tag: number, ...parts: Buffer[]) =>
      Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);
    const der = open(0x30, signedData, open(0xa0, open(0x30, integer(1), open(0xa0, one.der))));
    expect((await analyze({ 'a.p7b': der })).parts.map(({ subject }) => subject)).toEqual(['CN=One']);
  });

  it('without usable content is reported', async () => {
    const lists = await analyze({ 'a.p7b': pkcs7(tagged(0, one.der), tagged(1, sequence())) });
    expect(lists.parts).toHaveLength(1);
    expect(lists.warnings[0]).toMatchObject({ code: 'UNSUPPORTED', message: expect.stringContaining('was ignored') });
    const other = sequence(oid('1.2.840.113549.1.7.3'), tagged(0, sequence()));
    for (const bytes of [pkcs7(), other, pemBlock('EC PARAMETERS', integer(1))])
      expect((await analyze({ file: bytes })).rejected).toMatchObject([{ file: 'file', reason: 'UNSUPPORTED' }]);
  });
});

describe('a PFX', () => {
  const password = 'four loud herons';
  const { der, key } = makeCertificate({ subject: 'One' });
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  const lock = aes256(password);
  const locked = lockedKeyBag(lock.algorithm, lock.lock(pkcs8));
  const kindsIn = ({ parts }: CertificateAnalysis) => parts.map(({ kind }) => kind);

  it('returns its usable parts, and reports the ignored ones', async () => {
    const bags = bag('1.2.840.113549.1.12.10.1.6', sequence(certificateBag(der)));
    const odd = [
      listBag(),
      bag('1.2.840.113549.1.12.10.1.5', sequence(oid('1.2.3'))),
      bag('1.2.3.4', sequence()),
      bag('1.2.840.113549.1.12.10.1.3', sequence(oid('1.2.840.113549.1.9.22.2'), tagged(0, octets(der)))),
    ];
    const pfx = makePfx([safe([...odd, bags], lock), envelope(), safe([locked])]);
    const analysis = await analyze({ 'a.pfx': pfx }, password);
    expect(kindsIn(analysis)).toEqual(['server', 'key']);
    expect(analysis.rejected).toEqual([]);
    expect(analysis.warnings.filter(({ part }) => part === null)).toEqual(
      [
        'a list of revoked certificates (CRL)',
        'a secret',
        'a bag of an unknown kind',
        'a certificate that is not X.509',
        'content encrypted with a public key',
      ].map((what) => ({ code: 'UNSUPPORTED', part: null, message: `a.pfx: ${what} was ignored.` })),
    );
    const lists = await analyze({ 'a.pfx': makePfx([safe([listBag()])]) });
    expect([lists.parts, lists.rejected, lists.warnings.length]).toEqual([[], [], 1]);
  });

  it('with an unreadable bag returns the others', async () => {
    const pfx = makePfx([safe([certificateBag(sequence()), certificateBag(der), keyBag(sequence()), sequence()])]);
    const analysis = await analyze({ 'a.pfx': pfx });
    expect(kindsIn(analysis)).toEqual(['server']);
    expect(analysis.rejected.map(({ reason }) => reason)).toEqual(['DAMAGED']);
  });

  it('without a checksum returns its unencrypted parts despite a wrong password', async () => {
    const pfx = makePfx([safe([certificateBag(der)]), safe([locked])]);
    const analysis = await analyze({ 'a.pfx': pfx }, 'wrong');
    expect(kindsIn(analysis)).toEqual(['server']);
    expect(analysis.locked).toEqual([{ file: 'a.pfx', reason: 'PASSWORD_WRONG' }]);
    const unopened = await analyze({ 'a.pfx': makePfx([safe([certificateBag(der)], lock)]) });
    expect(unopened).toMatchObject({ parts: [], locked: [{ file: 'a.pfx', reason: 'PASSWORD_REQUIRED' }] });
  });

  it('with a PBMAC1 checksum is read', async () => {
    const bytes = makePfx([safe([certificateBag(der)], lock), safe([locked])], pbmac1(password));
    expect(kindsIn(await analyze({ 'a.pfx': bytes }, password))).toEqual(['server', 'key']);
    const wrong = await analyze({ 'a.pfx': bytes }, 'wrong');
    expect(wrong).toMatchObject({ parts: [], locked: [{ file: 'a.pfx', reason: 'PASSWORD_WRONG' }] });
    const other = await analyze({ 'a.pfx': makePfx([safe([locked])], () => pbmac1(password)(Buffer.of(1))) }, password);
    expect(other.rejected).toMatchObject([{ reason: 'DAMAGED', hint: expect.stringContaining('(MAC)') }]);
    const seal = () => sequence(sequence(sequence(oid('1.2.3.4')), octets()), octets(), integer(1));
    const unknown = await analyze({ 'a.pfx': makePfx([safe([certificateBag(der)])], seal) });
    expect(unknown.rejected).toMatchObject([{ reason: 'UNSUPPORTED', hint: expect.stringContaining('1.2.3.4') }]);
  });

  it('and a key with unsupported encryption are rejected with the algorithm', async () => {
    const other = pbes2(password, {
      algorithm: sequence(oid('1.2.643.2.2.21'), octets(Buffer.alloc(8))),
      keyBytes: 32,
      encrypt: (_key, bytes) => bytes,
    });
    const pfx = makePfx([safe([lockedKeyBag(other.algorithm, pkcs8), certificateBag(der)])]);
    const lockedKey = sequence(other.algorithm, octets(pkcs8));
    const analysis = await analyze({ 'a.pfx': pfx, 'a.key': lockedKey }, password);
    expect(kindsIn(analysis)).toEqual(['server']);
    expect(analysis.rejected).toEqual(
      ['a.pfx', 'a.key'].map((file) => ({
        file,
        reason: 'UNSUPPORTED',
        hint: expect.stringContaining('Algorithm: 1.2.643.2.2.21'),
      })),
    );
  });
});

it('a key with an unsupported old cipher is not reported as a wrong password', async () => {
  const des = pemBlock('RSA PRIVATE KEY', Buffer.alloc(64)).replace(
    '-----\n',
    '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-CBC,0011223344556677\n\n',
  );
  const { rejected, locked } = await analyze({ 'a.key': des }, 'sample');
  expect([rejected.map(({ reason }) => reason), locked]).toEqual([['UNSUPPORTED'], []]);
});

it('an unexpected error rejects one part, not the upload', () => {
  const findings = new Findings();
  findings.note('odd.pem', new RangeError('Maximum call stack size exceeded'));
  expect(findings.rejected).toEqual([{ file: 'odd.pem', reason: 'DAMAGED', hint: 'Something in it cannot be read.' }]);
});
