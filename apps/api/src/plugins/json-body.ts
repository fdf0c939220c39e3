import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import type { App } from '../zod-app.ts';
import { readBytes } from './read-bytes.ts';

/**
 * Accepts only JSON as a request body; areas with uploads add multipart themselves.
 * Drops keys that could reach a prototype, like any other unknown key.
 */
export function readJsonBodies(app: App): void {
  const parseJson = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readText(request, payload).then((text) => {
      // Many clients send a content type with every request, so a route that needs no body accepts an empty one.
      if (text === '' && !needsBody(request.routeOptions.schema?.body)) return done(null, undefined);
      void parseJson(request, text, (error, value) => {
        const isRefused = error === null && text.includes(String.raw`\u0000`) && holdsNul(value);
        done(isRefused ? nulRefused() : error, value);
      });
    }, done);
  });
  app.addHook('preValidation', (request, _reply, done) => {
    done(request.url.includes('%00') ? nulRefused() : undefined);
  });
}

async function readText(request: FastifyRequest, payload: Readable): Promise<string> {
  const refusal = encodingRefusal(request);
  if (refusal) throw refusal;
  const maxBytes = request.routeOptions.bodyLimit;
  const announced = request.headers['content-length'];
  if (Number(announced) > maxBytes) throw tooLarge();
  const bytes = await readBytes(request, payload, maxBytes);
  if (announced !== undefined && Number(announced) !== bytes.length)
    throw invalid('VALIDATION_FAILED', 'The length of the request body differs from Content-Length.');
  // Decoding would replace invalid bytes, and two different passwords could become equal.
  if (!isUtf8(bytes)) throw invalid('INVALID_JSON', 'The request body is not in UTF-8.');
  return bytes.toString();
}

/** Whether a route with this schema requires a body. Fastify passes a missing body to the schema as null. */
export const needsBody = (schema: unknown): boolean => schema instanceof z.ZodType && !schema.safeParse(null).success;

/** Refuses compressed bodies and other encodings: bodies are read uncompressed, in UTF-8. */
export function encodingRefusal(request: FastifyRequest): PortalError | undefined {
  const { 'content-encoding': coding, 'content-type': type = '' } = request.headers;
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    return unsupported('Compressed request bodies are not supported.');
  return isInUtf8(type) ? undefined : unsupported('Request bodies must be in UTF-8.');
}

/** Whether a content type names UTF-8, its subset US-ASCII, or no encoding. */
export function isInUtf8(contentType: string): boolean {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset);
}

const unsupported = (message: string): PortalError => new PortalError('UNSUPPORTED_MEDIA_TYPE', message);

// PostgreSQL cannot store U+0000 in text (NUL characters are 400).
const nulRefused = (): PortalError => invalid('VALIDATION_FAILED', 'The request contains a NUL character.');

/** Without recursion: a body may be nested deeper than the stack. */
export function holdsNul(root: unknown): boolean {
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && value.includes('\0')) return true;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key.includes('\0')) return true;
      open.push(inner);
    }
  }
  return false;
}
