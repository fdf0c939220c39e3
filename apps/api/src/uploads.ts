import multipart from '@fastify/multipart';
import type { FastifyRequest, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { invalid, invalidField, PortalError, tooLarge } from '@portal/domain/errors';
import { readBytes } from './plugins/read-bytes.ts';
import { type App, readerOf } from './zod-app.ts';

// Boundaries and part headers around one file; far more than any client writes.
const envelopeBytes = 64 * 1024;

/** Routes that take one file of at most `maxBytes` as multipart; anything larger is refused while it comes in. */
export function acceptOneFile(app: App, maxBytes: number, register: (scope: App) => void): void {
  void app.register(async (scope) => {
    // Nothing but multipart: any other content type is 415.
    scope.removeAllContentTypeParsers();
    await scope.register(multipart, {
      limits: {
        fileSize: maxBytes,
        files: 1,
        fields: 10,
        fieldSize: 1_024,
        fieldNameSize: 100,
        parts: 11,
        headerPairs: 50,
      },
    });
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = maxBytes;
    });
    // Before the route looks up what the file is for (contract section 1, order of checks), and the file is read after that.
    scope.addHook('preValidation', (request, _reply, done) => {
      if (!request.isMultipart()) return done(noMultipart());
      const announced = Number(request.headers['content-length'] ?? 0);
      done(announced > maxBytes + envelopeBytes ? largerThan(maxBytes) : undefined);
    });
    register(scope);
  });
}

/** The body of an upload route in the document; what comes in is read by `readFile`, not by this schema. */
export const FileBody = (field: string) =>
  z.object({ [field]: z.any().meta({ type: 'string', format: 'binary' }) }).meta({ example: { [field]: '(bytes)' } });

/** For upload routes: their body is a stream of parts that no schema can look at. */
export const bodyIsRead: Pick<RouteShorthandOptions, 'validatorCompiler'> = {
  validatorCompiler: ({ schema, httpPart }) =>
    httpPart === 'body' ? (value) => ({ value }) : readerOf(schema as z.ZodType),
};

/** The bytes of the one file of an upload, see `readNamedFile`. */
export const readFile = async (request: FastifyRequest, field: string): Promise<Buffer> =>
  (await readNamedFile(request, field)).bytes;

/**
 * The one file of an upload, from the field of this name, and the name the sender gave it, which may be anything.
 * Throws 413, and 400 when it is not there.
 */
export async function readNamedFile(
  request: FastifyRequest,
  field: string,
): Promise<{ name: string | undefined; bytes: Buffer }> {
  // It may have broken off while its target was looked up, and says so once.
  if (request.raw.readableAborted) throw refusalOf(undefined);
  try {
    let file: { name: string | undefined; bytes: Buffer } | null = null;
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue;
      if (part.fieldname !== field)
        throw invalidField(part.fieldname, `is no field of this upload; the file belongs in ${field}`);
      const { bodyLimit } = request.routeOptions;
      const bytes = await readBytes(request, part.file, bodyLimit);
      if (part.file.truncated) throw largerThan(bodyLimit);
      file = { name: part.filename, bytes };
    }
    if (file === null) throw invalidField(field, 'must be a file');
    return file;
  } catch (error) {
    throw refusalOf(error);
  }
}

/** What multipart says about limits has a status already; anything else it says is about a body that is no whole multipart. */
function refusalOf(error: unknown): unknown {
  if (error instanceof PortalError) return error;
  const isLimit = error instanceof Error && 'statusCode' in error && error.statusCode === 413;
  if (isLimit) return tooLarge('The upload is larger than allowed.', error);
  return invalid('VALIDATION_FAILED', 'The upload is no complete multipart/form-data.', { cause: error });
}

const noMultipart = (): PortalError =>
  new PortalError('UNSUPPORTED_MEDIA_TYPE', 'Please send the file as multipart/form-data.');

const largerThan = (maxBytes: number): PortalError => tooLarge(`The file must not be larger than ${maxBytes} bytes.`);
