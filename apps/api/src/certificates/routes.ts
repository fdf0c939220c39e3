import { z } from 'zod';
import { needs } from '@portal/domain/access';
import {
  CertificateAnalysis,
  CertificateExport,
  FilePassword,
  uploadLimits,
} from '@portal/domain/certificates/certificates';
import { shownFileName } from '@portal/domain/dashboards/tabs';
import { analyzeCertificates } from '@portal/usecases/certificates/analyze';
import { exportCertificate } from '@portal/usecases/certificates/export';
import { sendJson, sendMadeFile } from '../files.ts';
import { acceptForms, formFiles, readForm } from '../uploads.ts';
import type { App } from '../zod-app.ts';

const tags = ['certificates'];
const access = needs('certificate-manager', 'USE');

const Upload = z
  .object({
    // An archive may be as large as the whole form; other files are measured once it is known what they are.
    files: formFiles(uploadLimits.files, uploadLimits.requestBytes, {
      tooLarge: 'TOO_LARGE',
      tooMany: 'TOO_MANY_FILES',
    }),
    password: FilePassword.optional().describe('Tried on everything that is locked'),
  })
  .meta({ example: { files: ['(bytes)'], password: 'four loud herons' } });

/** What certificate files hold, and other files made of it. Nothing of either is kept. */
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
          summary: 'Find out what certificate files hold',
          description: `Certificates, keys and requests in PEM, DER, PKCS#7 and PFX, told by content, in several files or a ZIP of them. What occurs twice is one part, parts of the same public key name each other, and chains are built along every path that names, key ids and signatures allow, the best first. Whatever is locked or cannot be read is listed beside the rest. At most ${uploadLimits.files} files of 1 MiB and 10 MiB together; a ZIP may hold ${uploadLimits.archiveEntries} entries and 20 MiB, and no other archive. 30 a minute for each user. Nothing is kept, and nothing is fetched.`,
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
        summary: 'Make a file of certificates, a key or a request',
        description:
          'Takes the parts as PEM, as an analysis answers them, and answers a file to be saved, called after the common name. `fullchain`, `p7b` and `pfx` hold the certificate first and then, whatever their order in `chainPems`, those on the best way up from it; the root only with `includeRoot`. A PFX is locked with AES-256 and SHA-256, with `legacy` by 3DES and SHA-1. Keys in other formats come without a password. That a key was exported is noted in the audit log. 30 a minute for each user.',
        body: CertificateExport,
        produces: ['application/octet-stream'],
        response: { 200: z.any().describe('The file') },
      },
    },
    async (request, reply) => sendMadeFile(reply, await exportCertificate(request.ctx, request.body)),
  );
}
