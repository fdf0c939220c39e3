import { z } from 'zod';
import { needs } from '@portal/domain/access';
import {
  CertificateAnalysis,
  CertificateExport,
  FilePassword,
  uploadLimits,
} from '@portal/domain/certificates/certificates';
import { shownFileName } from '@portal/domain/text';
import { analyzeCertificates } from '@portal/usecases/certificates/analyze';
import { exportCertificate } from '@portal/usecases/certificates/export';
import { sendJson, sendMadeFile } from '../files.ts';
import { acceptForms, formFiles, readForm } from '../uploads.ts';
import type { App } from '../zod-app.ts';

const tags = ['certificates'];
const access = needs('certificate-manager', 'USE');

const Upload = z
  .object({
    // An archive can be as large as the whole form; the size of other files is checked after their kind is known.
    files: formFiles(uploadLimits.files, uploadLimits.requestBytes, {
      tooLarge: 'TOO_LARGE',
      tooMany: 'TOO_MANY_FILES',
    }),
    password: FilePassword.optional().describe('Tried on everything that needs a password'),
  })
  .meta({ example: { files: ['(bytes)'], password: 'four loud herons' } });

/** Analyzes certificate files and exports them to other formats. Nothing is stored. */
export function registerCertificates(app: App): void {
  acceptForms(app, (scope) => {
    scope.post(
      '/certificates/analyze',
      {
        bodyLimit: uploadLimits.requestBytes,
        config: {
          access,
          errors: { 413: ['TOO_MANY_FILES', 'TOO_LARGE', 'ARCHIVE_TOO_LARGE'], 429: ['RATE_LIMITED'] },
        },
        schema: {
          operationId: 'analyzeCertificates',
          tags,
          summary: 'Analyze certificate files',
          description: `Reads certificates, keys and certificate requests in PEM, DER, PKCS#7 and PFX from one or more files or a ZIP; the format is detected from the content. Duplicates become one part, and parts with the same public key name each other in \`matches\`. Chains are built along every path that names, key ids and signatures allow; the best comes first. Files that need a password or cannot be read are also listed. At most ${uploadLimits.files} files of 1 MiB each and 10 MiB together; a ZIP may have ${uploadLimits.archiveEntries} entries and 20 MiB, and must not contain another archive. Each user can make 30 calls per minute. Nothing is stored, and nothing is fetched from elsewhere.`,
          body: Upload,
          response: { 200: CertificateAnalysis },
        },
      },
      async (request, reply) => {
        const { files, password } = await readForm(request);
        const named = files.map(({ name, bytes }) => ({ name: shownFileName(name, 'file'), bytes }));
        return sendJson(reply, await analyzeCertificates(request.ctx, { files: named, password }));
      },
    );
  });

  app.post(
    '/certificates/export',
    {
      config: {
        access,
        errors: {
          400: ['KEY_MISMATCH', 'MISSING_PART', 'PASSWORD_REQUIRED', 'FORMAT_NOT_FOR_KEY_TYPE'],
          429: ['RATE_LIMITED'],
        },
      },
      schema: {
        operationId: 'exportCertificate',
        tags,
        summary: 'Export certificates, a key or a certificate request to a file',
        description:
          'Send the parts as PEM, as an analysis returns them. The answer is a file download named after the common name. `fullchain`, `p7b` and `pfx` contain the certificate first and then the certificates of its best chain, regardless of their order in `chainPems`; the root only with `includeRoot`. A PFX is encrypted with AES-256 and SHA-256, or with 3DES and SHA-1 if `legacy` is set. Keys in other formats have no password. The export of a key is noted in the audit log. Each user can make 30 calls per minute.',
        body: CertificateExport,
        produces: ['application/octet-stream'],
        response: { 200: z.any().describe('The file') },
      },
    },
    async (request, reply) => sendMadeFile(reply, await exportCertificate(request.ctx, request.body)),
  );
}
