import type { KeyObject } from 'node:crypto';
import type { CertificateExport, ExportFormat } from '@portal/domain/certificates/certificates';
import { signedDataOf } from '@portal/domain/certificates/signed-data';
import { invalid, invalidField } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { IssuerGraph } from './chains.ts';
import { Deadline } from './reading/deadline.ts';
import type { Findings } from './reading/findings.ts';
import type { FoundCertificate, FoundRequest } from './reading/found.ts';
import { readFiles } from './reading/read-files.ts';
import { commonNameOf, safeFileName } from './writing/file-name.ts';
import { writePfx } from './writing/pfx.ts';

const timeoutMs = 8 * SECOND;

export interface ExportedFile {
  name: string;
  type: string;
  bytes: Uint8Array;
  /** Common name or first alternative name; null if the parts have neither. */
  subject: string | null;
}

const pemType = 'application/x-pem-file';
const kinds: Record<ExportFormat, { type: string; extension: string }> = {
  crt: { type: pemType, extension: '.crt' },
  cer: { type: 'application/pkix-cert', extension: '.cer' },
  fullchain: { type: pemType, extension: '.pem' },
  p7b: { type: 'application/x-pkcs7-certificates', extension: '.p7b' },
  pfx: { type: 'application/x-pkcs12', extension: '.pfx' },
  'key-pkcs8': { type: pemType, extension: '.key' },
  'key-pkcs1': { type: pemType, extension: '.key' },
  'key-der': { type: 'application/octet-stream', extension: '.der' },
  'csr-pem': { type: pemType, extension: '.csr' },
  'csr-der': { type: 'application/pkcs10', extension: '.csr' },
};

/** Sandbox task: converts PEM parts to a file of the format. Throws 400. */
export async function run(input: CertificateExport): Promise<ExportedFile> {
  const parts = new Parts(input, new Deadline(timeoutMs));
  const bytes = await bytesOf(input, parts);
  const { type, extension } = kinds[input.format];
  const name = await parts.name();
  return { name: safeFileName(name) + extension, type, bytes, subject: name || null };
}

async function bytesOf(input: CertificateExport, parts: Parts): Promise<Uint8Array> {
  switch (input.format) {
    case 'crt':
      return Buffer.from((await parts.certificate()).pem);
    case 'cer':
      return (await parts.certificate()).x509.raw;
    case 'fullchain':
      return Buffer.from((await parts.chain()).map(({ pem }) => pem).join(''));
    case 'p7b':
      return signedDataOf((await parts.chain()).map(({ x509 }) => x509.raw));
    case 'pfx':
      return pfxOf(input, parts);
    case 'key-pkcs8':
      return Buffer.from((await parts.key()).export({ type: 'pkcs8', format: 'pem' }));
    case 'key-pkcs1':
      return pkcs1Of(await parts.key());
    case 'key-der':
      return (await parts.key()).export({ type: 'pkcs8', format: 'der' });
    case 'csr-pem':
      return Buffer.from((await parts.request()).pem);
    case 'csr-der':
      return (await parts.request()).der;
  }
}

async function pfxOf({ password, friendlyName, legacy }: CertificateExport, parts: Parts): Promise<Uint8Array> {
  const key = await parts.key();
  const certificates = await parts.chain();
  const [own] = certificates;
  if (!own?.publicKey || !own.x509.checkPrivateKey(key)) throw invalid('KEY_MISMATCH');
  if (!password) throw invalid('PASSWORD_REQUIRED');
  const name = friendlyName || nameOf(own);
  return writePfx({ key, certificates, password, friendlyName: name, isLegacy: legacy }, parts.deadline);
}

function pkcs1Of(key: KeyObject): Uint8Array {
  if (key.asymmetricKeyType !== 'rsa')
    throw invalid('FORMAT_NOT_FOR_KEY_TYPE', 'PKCS#1 supports only RSA keys. Please choose PKCS#8.');
  return Buffer.from(key.export({ type: 'pkcs1', format: 'pem' }));
}

/** The common name, or the first alternative name if the subject is empty. */
const nameOf = ({ subject, sans }: FoundCertificate | FoundRequest): string => commonNameOf(subject) || (sans[0] ?? '');

/** The parts sent by the caller. Each is read only when the format needs it. */
class Parts {
  readonly deadline: Deadline;
  readonly #input: CertificateExport;

  constructor(input: CertificateExport, deadline: Deadline) {
    this.#input = input;
    this.deadline = deadline;
  }

  async certificate(): Promise<FoundCertificate> {
    const [own] = await this.#certificates('certificatePem', required('certificatePem', this.#input.certificatePem));
    if (!own) throw invalidField('certificatePem', 'contains no certificate');
    return own;
  }

  /** The certificate and its issuers in order; the root only with `includeRoot`. */
  async chain(): Promise<FoundCertificate[]> {
    const own = await this.certificate();
    const others: FoundCertificate[] = [];
    for (const [index, pem] of (this.#input.chainPems ?? []).entries())
      others.push(...(await this.#certificates(`chainPems.${index}`, pem)));
    const graph = new IssuerGraph([own, ...others.filter(({ id }) => id !== own.id)], new Date(), this.deadline);
    const path = graph.pathsOf(own)[0]?.certificates ?? [own];
    return path.filter((certificate) => certificate === own || this.#input.includeRoot || !certificate.isSelfSigned);
  }

  async key(): Promise<KeyObject> {
    const findings = await this.#read('privateKeyPem', required('privateKeyPem', this.#input.privateKeyPem));
    const [found] = [...findings.parts.values()].filter((part) => part.type === 'key');
    if (!found) throw invalidField('privateKeyPem', 'contains no key');
    return found.key;
  }

  async request(): Promise<FoundRequest> {
    const findings = await this.#read('csrPem', required('csrPem', this.#input.csrPem));
    const [found] = [...findings.parts.values()].filter((part) => part.type === 'csr');
    if (!found) throw invalidField('csrPem', 'contains no certificate request');
    return found;
  }

  /** The name of the request or certificate that the file is about; empty if neither was sent. */
  async name(): Promise<string> {
    const { format, certificatePem, csrPem } = this.#input;
    if (csrPem && (format.startsWith('csr') || !certificatePem)) return nameOf(await this.request());
    return certificatePem ? nameOf(await this.certificate()) : '';
  }

  async #certificates(path: string, pem: string): Promise<FoundCertificate[]> {
    const { parts } = await this.#read(path, pem);
    return [...parts.values()].filter((part) => part.type === 'certificate');
  }

  async #read(path: string, pem: string): Promise<Findings> {
    const findings = await readFiles([{ name: path, bytes: Buffer.from(pem) }], this.#input.password, this.deadline);
    const [rejected] = findings.rejected;
    if (rejected) throw invalidField(path, `cannot be read: ${rejected.hint}`);
    if (findings.locked.length > 0)
      throw invalid(
        'PASSWORD_REQUIRED',
        `The given password does not open ${path}. Please enter the correct password.`,
      );
    return findings;
  }
}

function required(path: string, pem: string | undefined): string {
  if (!pem?.trim())
    throw invalid('MISSING_PART', `This format needs ${path}.`, { details: [{ path, message: 'is missing' }] });
  return pem;
}
