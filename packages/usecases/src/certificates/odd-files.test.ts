import { describe, expect, it } from 'vitest';
import { CertificateAnalysis, CertificateExport, type ExportFormat } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { element, integer, octets, sequence, tagged } from '@portal/testing/der';
import {
  alternativeNames,
  authority,
  dnsName,
  extension,
  makeCertificate,
  pemBlock,
} from '@portal/testing/made-certificates';
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

  it('is read like any other, and so is one without an issuer', async () => {
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

  it('is exported, under its first alternative name', async () => {
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

  it('costs a certificate no more than what that extension says', async () => {
    const analysis = await analyze({ 'between.pem': between.pem, 'server.pem': server.pem });
    expect(analysis.rejected).toEqual([]);
    expect(warningsOf(analysis)).toEqual([
      ['server', 'LONG_VALIDITY', 'KEY_MISSING'],
      ['intermediate', 'UNSUPPORTED'],
    ]);
    expect(analysis.parts[1]?.warnings[0]?.message).toContain('2.5.29.31');
    expect(analysis.chains.map(({ path }) => path.length)).toEqual([2]);
  });

  it('does not hide how many authorities may follow', async () => {
    const { chains } = await analyze({ 'root.pem': root.pem, 'between.pem': between.pem, 'server.pem': server.pem });
    expect(chains.map(({ path, isComplete }) => [path.length, isComplete])).toEqual([[2, false]]);
  });

  it('may be the one that says who may issue others, and one that stands twice', async () => {
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

  it('keeps no format from being written', async () => {
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

describe('a PKCS#7 file', () => {
  const oid = Buffer.from('06092a864886f70d010702', 'hex');
  const pkcs7 = (...parts: Buffer[]) => sequence(oid, tagged(0, sequence(integer(1), ...parts)));
  const one = makeCertificate({ subject: 'One', extensions: [authority()] });

  it('with one certificate that is none gives the others', async () => {
    const { parts, rejected } = await analyze({ 'a.p7b': pkcs7(tagged(0, sequence(integer(1)), one.der)) });
    expect(parts.map(({ subject }) => subject)).toEqual(['CN=One']);
    expect(rejected).toEqual([{ file: 'a.p7b', reason: 'DAMAGED', hint: 'Something in it cannot be read.' }]);
  });

  it('may leave out lengths', async () => {
    const open = (tag: number, ...parts: Buffer[]) =>
      Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);
    const der = open(0x30, oid, open(0xa0, open(0x30, integer(1), open(0xa0, one.der))));
    expect((await analyze({ 'a.p7b': der })).parts.map(({ subject }) => subject)).toEqual(['CN=One']);
  });

  it('that holds nothing of use is told of', async () => {
    const lists = await analyze({ 'a.p7b': pkcs7(tagged(0, one.der), tagged(1, sequence())) });
    expect(lists.parts).toHaveLength(1);
    expect(lists.warnings[0]).toMatchObject({ code: 'UNSUPPORTED', message: expect.stringContaining('passed over') });
    const other = sequence(Buffer.from('06092a864886f70d010703', 'hex'), tagged(0, sequence()));
    for (const bytes of [pkcs7(), other, pemBlock('EC PARAMETERS', integer(1))])
      expect((await analyze({ file: bytes })).rejected).toMatchObject([{ file: 'file', reason: 'UNSUPPORTED' }]);
  });
});

it('what a reader did not foresee rejects one part, and not the upload', () => {
  const findings = new Findings();
  findings.note('odd.pem', new RangeError('Maximum call stack size exceeded'));
  expect(findings.rejected).toEqual([{ file: 'odd.pem', reason: 'DAMAGED', hint: 'Something in it cannot be read.' }]);
});
