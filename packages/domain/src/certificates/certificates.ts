import { z } from 'zod';
import { line } from '../text.ts';
import { Instant } from '../time.ts';

/** Limits of an upload. */
export const uploadLimits = {
  files: 50,
  fileBytes: 1024 * 1024,
  /** All files together, and therefore also one archive. */
  requestBytes: 10 * 1024 * 1024,
  archiveEntries: 200,
  /** All entries together, unpacked. */
  unpackedBytes: 20 * 1024 * 1024,
  /** Maximum ratio of unpacked to packed bytes; applies to entries larger than `ratioFromBytes`. */
  ratio: 100,
  ratioFromBytes: 64 * 1024,
  parts: 500,
};

/** A password with any characters. It can be empty, because some files have an empty password. */
export const FilePassword = z.string().max(1_000);

export const PartKind = z.enum(['server', 'intermediate', 'root', 'key', 'csr']);
export type PartKind = z.output<typeof PartKind>;

/** The SHA-256 of the part, in hex. */
const PartId = z.string().regex(/^[0-9a-f]{64}$/);

const WarningCode = z.enum([
  'EXPIRED',
  'NOT_YET_VALID',
  'EXPIRES_SOON',
  'LONG_VALIDITY',
  'WEAK_KEY',
  'WEAK_SIGNATURE',
  'NO_SAN',
  'WILDCARD',
  'NOT_SERVER_AUTH',
  'KEY_MISSING',
  'KEY_MISMATCH',
  'CHAIN_INCOMPLETE',
  'ROOT_MISSING',
  'CHAIN_EXPIRED',
  'MULTIPLE_CHAINS',
  'NOT_CA',
  'PASSWORD_REQUIRED',
  'PASSWORD_WRONG',
  'UNSUPPORTED',
]);

export const Warning = z.object({
  code: WarningCode,
  part: PartId.nullable().describe('The part this warning is about; null if it is about a file'),
  message: z.string(),
});
export type Warning = z.output<typeof Warning>;

export const Part = z.object({
  id: PartId.describe('SHA-256 of the DER; for a key SHA-256 of its public key (SPKI)'),
  kind: PartKind,
  files: z.array(z.string()).describe('All files that contain it'),
  pem: z.string().describe('For a key PKCS#8 without a password'),
  sha256: z.string().describe('Same as `id`; for a certificate this is its fingerprint'),
  subject: z.string().nullable(),
  issuer: z.string().nullable(),
  serialNumber: z.string().nullable().describe('In hex'),
  notBefore: Instant.nullable(),
  notAfter: Instant.nullable(),
  sans: z
    .array(z.string())
    .describe(
      'Only the names and addresses, without their types; other names with their kind, as in `UPN:ada@example.org`',
    ),
  keyType: z.string().describe('`RSA 2048`, `EC P-256`, `Ed25519`'),
  matches: z.array(PartId).describe('Ids of parts with the same public key'),
  warnings: z.array(Warning),
});
export type Part = z.output<typeof Part>;

export const Chain = z.object({
  leaf: PartId,
  path: z.array(PartId).describe('From the leaf to the root'),
  isComplete: z.boolean().describe('Whether the chain ends with a self-signed certificate'),
  warnings: z.array(Warning),
});
export type Chain = z.output<typeof Chain>;

export const LockedReason = z.enum(['PASSWORD_REQUIRED', 'PASSWORD_WRONG']);
export type LockedReason = z.output<typeof LockedReason>;

export const RejectedReason = z.enum(['UNSUPPORTED', 'DAMAGED', 'TOO_LARGE', 'NESTED_ARCHIVE']);
export type RejectedReason = z.output<typeof RejectedReason>;

const exampleId = '3f1c6a7d0b92e54877a1c3d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f70819';

/** The contents of a set of files. */
export const CertificateAnalysis = z
  .object({
    parts: z.array(Part),
    chains: z.array(Chain).describe('Best first'),
    locked: z.array(z.object({ file: z.string(), reason: LockedReason })),
    rejected: z.array(z.object({ file: z.string(), reason: RejectedReason, hint: z.string() })),
    warnings: z.array(Warning).describe('All warnings, including those of parts and chains'),
  })
  .meta({
    id: 'CertificateAnalysis',
    example: {
      parts: [
        {
          id: exampleId,
          kind: 'server',
          files: ['www.example.org.crt'],
          pem: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
          sha256: exampleId,
          subject: 'CN=www.example.org',
          issuer: 'C=DE, O=Example Trust, CN=Example Issuing CA',
          serialNumber: '589840C6C001C6AF',
          notBefore: '2026-11-01T00:00:00Z',
          notAfter: '2027-11-01T00:00:00Z',
          sans: ['www.example.org', 'example.org'],
          keyType: 'RSA 2048',
          matches: [],
          warnings: [],
        },
      ],
      chains: [{ leaf: exampleId, path: [exampleId], isComplete: false, warnings: [] }],
      locked: [{ file: 'old-server.pfx', reason: 'PASSWORD_REQUIRED' }],
      rejected: [],
      warnings: [],
    },
  });
export type CertificateAnalysis = z.output<typeof CertificateAnalysis>;

export const ExportFormat = z.enum([
  'crt',
  'cer',
  'fullchain',
  'p7b',
  'pfx',
  'key-pkcs8',
  'key-pkcs1',
  'key-der',
  'csr-pem',
  'csr-der',
]);
export type ExportFormat = z.output<typeof ExportFormat>;

const pem = () => z.string().max(uploadLimits.fileBytes);

export const CertificateExport = z
  .object({
    format: ExportFormat,
    certificatePem: pem().optional(),
    chainPems: z.array(pem()).max(uploadLimits.files).optional(),
    privateKeyPem: pem().optional(),
    csrPem: pem().optional(),
    password: FilePassword.optional().describe(
      'Password of the exported PFX; also used to open a `privateKeyPem` that has a password',
    ),
    friendlyName: line().optional().describe('Name of the key in the PFX; default is the common name'),
    legacy: z.boolean().default(false).describe('A PFX for old systems: 3DES and SHA-1'),
    includeRoot: z.boolean().default(false),
  })
  .meta({
    id: 'CertificateExport',
    example: {
      format: 'pfx',
      certificatePem: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
      chainPems: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
      privateKeyPem: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n',
      password: 'four loud herons',
    },
  });
export type CertificateExport = z.output<typeof CertificateExport>;
