import { describe, expect, it } from 'vitest';
import { CertificateAnalysis, CertificateExport, type ExportFormat } from '@portal/domain/certificates/certificates';
import { certificateSample } from '@portal/testing/cert-samples';
import { alternativeNames, authority, dnsName, makeCertificate } from '@portal/testing/made-certificates';
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

it('what a reader did not foresee rejects one part, and not the upload', () => {
  const findings = new Findings();
  findings.note('odd.pem', new RangeError('Maximum call stack size exceeded'));
  expect(findings.rejected).toEqual([{ file: 'odd.pem', reason: 'DAMAGED', hint: 'Something in it cannot be read.' }]);
});
