import { createPrivateKey } from 'node:crypto';
import { certificatesInSignedData } from '@portal/domain/certificates/signed-data';
import { readArchive } from './archive.ts';
import { base64 } from './base64.ts';
import type { Deadline } from './deadline.ts';
import { type DerKind, derKindsOf, wholeOf } from './der-kind.ts';
import { Findings } from './findings.ts';
import { type Found, foundCertificate, foundKey, foundRequest } from './found.ts';
import { isArchive } from './is-archive.ts';
import { damaged, NotUsableError, tooMuch, unsupported } from './not-usable.ts';
import { type PemBlock, pemBlocks } from './pem-blocks.ts';
import { readPfx } from './pfx.ts';
import { openKey, openPem } from './private-key.ts';

export interface UploadedFile {
  name: string;
  bytes: Uint8Array;
}

/** Far more than real bundles have; each block costs a read attempt. */
const maxBlocks = 1_000;
/** Ignored blocks are reported; silent blocks only repeat parameters that the next key contains, too. */
const ignored = new Set(['DH PARAMETERS', 'PUBLIC KEY', 'RSA PUBLIC KEY', 'X509 CRL']);
const silent = new Set(['EC PARAMETERS', 'DSA PARAMETERS']);

/** Reads files by their content, regardless of their names. An unusable file never hides another. */
export async function readFiles(
  files: UploadedFile[],
  password: string | undefined,
  deadline: Deadline,
): Promise<Findings> {
  const findings = new Findings();
  const reader = new Reader(findings, password, deadline);
  for (const file of files) {
    try {
      await reader.read(file, files.length === 1 ? '' : `${file.name}/`);
    } catch (error) {
      findings.note(file.name, error);
    }
  }
  return findings;
}

class Reader {
  readonly #findings: Findings;
  readonly #password: string | undefined;
  readonly #deadline: Deadline;

  constructor(findings: Findings, password: string | undefined, deadline: Deadline) {
    this.#findings = findings;
    this.#password = password;
    this.#deadline = deadline;
  }

  /** Archive entries are named by their path in the archive, with the archive name before it if there are other files. */
  async read({ name, bytes }: UploadedFile, prefix: string): Promise<void> {
    if (!isArchive(bytes)) return this.#readFile(name, bytes);
    for (const entry of await readArchive(bytes)) {
      const path = prefix + entry.name;
      try {
        if (entry.content instanceof NotUsableError) throw entry.content;
        if (isArchive(entry.content))
          throw new NotUsableError('NESTED_ARCHIVE', 'An archive within an archive is not opened. Please unpack it.');
        this.#readFile(path, entry.content);
      } catch (error) {
        this.#findings.note(path, error);
      }
    }
  }

  #readFile(file: string, bytes: Uint8Array): void {
    this.#deadline.check();
    const before = this.#findings.count;
    this.#readContent(file, bytes);
    if (this.#findings.count === before) throw unsupported('It contains no certificate, key or request.');
  }

  #readContent(file: string, bytes: Uint8Array): void {
    const text = textOf(bytes);
    if (text.includes('-----BEGIN ')) return this.#readBlocks(file, text);
    const der = derKindsOf(bytes).length > 0 ? bytes : base64(text);
    if (der === null) throw unsupported(hintFor(bytes, text));
    this.#readDer(file, der);
  }

  #readBlocks(file: string, text: string): void {
    let count = 0;
    for (const block of pemBlocks(text)) {
      count += 1;
      if (count > maxBlocks) throw tooMuch(`Only the first ${maxBlocks} blocks of a file are read.`);
      try {
        this.#readBlock(file, block);
      } catch (error) {
        this.#findings.note(file, error);
      }
    }
  }

  #readBlock(file: string, block: PemBlock): void {
    this.#deadline.check();
    const { label, bytes } = block;
    if (silent.has(label)) return;
    if (ignored.has(label)) return this.#findings.ignore(file, `the ${label} block`);
    if (label === 'OPENSSH PRIVATE KEY')
      throw unsupported('This is an OpenSSH key. To convert it in place, run: ssh-keygen -p -m PEM -f FILE');
    if (block.isLocked) return this.#findings.add(file, foundKey(openPem(block.text, this.#password)));
    if (bytes === null) throw damaged(`The block ${label} in it is incomplete or damaged.`);
    this.#readDer(file, bytes);
  }

  #readDer(file: string, bytes: Uint8Array): void {
    const kinds = derKindsOf(bytes);
    if (kinds.length === 0) throw unsupported('It contains nothing that can be read.');
    const der = wholeOf(bytes);
    if (der === null) throw damaged('It is incomplete.');
    let fault: unknown = null;
    for (const kind of kinds) {
      try {
        return this.#readKind(file, kind, der);
      } catch (error) {
        if (error instanceof NotUsableError) throw error;
        fault = error;
      }
    }
    throw damaged(`It begins like ${kindLabels[kinds[0] ?? 'certificate']}, but cannot be read.`, fault);
  }

  #readKind(file: string, kind: DerKind, der: Uint8Array): void {
    switch (kind) {
      case 'certificate':
        return this.#findings.add(file, foundCertificate(der));
      case 'csr':
        return this.#findings.add(file, foundRequest(der));
      case 'pkcs7': {
        const content = certificatesInSignedData(der);
        if (content === null) throw unsupported('This kind of PKCS#7 file does not contain certificates.');
        if (content.hasOthers) this.#findings.ignore(file, 'content other than certificates');
        return this.#addEach(file, content.certificates, foundCertificate);
      }
      case 'pfx': {
        const { certificates, keys, faults, ignored } = readPfx(der, this.#password, this.#deadline);
        for (const what of ignored) this.#findings.ignore(file, what);
        this.#addEach(file, certificates, foundCertificate);
        this.#addEach(file, keys, (key) =>
          foundKey(createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' })),
        );
        for (const fault of faults) this.#findings.note(file, fault);
        return;
      }
      case 'encrypted-key':
        return this.#findings.add(file, foundKey(openKey(der, this.#password, this.#deadline)));
      case 'pkcs8':
      case 'pkcs1':
      case 'sec1':
        return this.#findings.add(
          file,
          foundKey(createPrivateKey({ key: Buffer.from(der), format: 'der', type: kind })),
        );
      case 'public-key':
        return this.#findings.ignore(file, 'a public key');
    }
  }

  /** Adds the parts of one file. An unreadable part does not hide the others. */
  #addEach<Bytes>(file: string, parts: Bytes[], found: (part: Bytes) => Found): void {
    for (const part of parts) {
      try {
        this.#deadline.check();
        this.#findings.add(file, found(part));
      } catch (error) {
        this.#findings.note(file, error);
      }
    }
  }
}

/** Bytes as text. Windows programs sometimes write UTF-16. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString(buffer[0] === 0xff && buffer[1] === 0xfe ? 'utf16le' : 'latin1');
}

const kindLabels: Record<DerKind, string> = {
  certificate: 'a certificate',
  csr: 'a certificate request',
  pkcs7: 'a PKCS#7 file',
  pfx: 'a PFX',
  pkcs8: 'a key',
  'encrypted-key': 'a key with a password',
  pkcs1: 'an RSA key',
  sec1: 'an EC key',
  'public-key': 'a public key',
};

/** A hint for known file kinds that are not supported. */
function hintFor(bytes: Uint8Array, text: string): string {
  const magic = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  if (magic === 'feedfeed' || magic === 'cececece') {
    const type = magic === 'feedfeed' ? 'JKS' : 'JCEKS';
    return `This is a Java key store (${type}). To convert it, run: keytool -importkeystore -srckeystore FILE -srcstoretype ${type} -destkeystore new.p12 -deststoretype PKCS12`;
  }
  if (/^(ssh-|ecdsa-sha2-)/.test(text)) return 'This is an OpenSSH public key, which cannot be used for certificates.';
  return 'It contains no certificate, key or request that can be read.';
}
