import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CodeOf } from '@portal/domain/error-codes';
import { invalidField, PortalError } from '@portal/domain/errors';
import { type Part, readParts } from './multipart.ts';
import { encodingRefusal, holdsNul } from './plugins/json-body.ts';
import { readBytes } from './plugins/read-bytes.ts';
import { type App, readerOf } from './zod-app.ts';

// Allowance for boundaries and part headers; far more than any client writes.
const envelopeBytes = 64 * 1024;
/** Enough for the longest text, 10,000 characters, in any script. */
const fieldMaxBytes = 64 * 1024;
/** How many unknown fields a loose form ignores. */
const maxUnknownFields = 10;

export interface UploadedFile {
  /** The sender's name for the file; unchecked. */
  name: string | undefined;
  bytes: Buffer;
}

/** Error codes of a 413, if the form has its own. */
interface SizeCodes {
  tooLarge?: CodeOf<'too_large'>;
  tooMany?: CodeOf<'too_large'>;
}

/** The limits of one named part of a form. */
interface PartRule extends SizeCodes {
  maxBytes: number;
  /** Undefined for a field, which may occur once. */
  maxFiles?: number;
  isList?: boolean;
}

const partRules = z.registry<PartRule>();

/** One file in a form. */
export const formFile = (maxBytes: number, codes: SizeCodes = {}) =>
  z
    .custom<UploadedFile>((value) => typeof value === 'object', 'must be a file')
    .meta({ type: 'string', format: 'binary' })
    .register(partRules, { maxBytes, maxFiles: 1, ...codes });

/** Several files in a form under one name, each at most `maxBytes`. */
export const formFiles = (maxFiles: number, maxBytes: number, codes: SizeCodes = {}) =>
  z
    .array(formFile(maxBytes), 'must be a file')
    .min(1, 'must be a file')
    .max(maxFiles)
    .register(partRules, { maxBytes, maxFiles, isList: true, ...codes });

/** A form field that contains JSON. */
export function formJson<T extends z.ZodType>(value: T, maxBytes = fieldMaxBytes) {
  const field = z
    .string()
    .meta({ contentMediaType: 'application/json' })
    .transform((text, { addIssue }) => {
      const parsed = jsonOf(text);
      if (parsed === undefined || holdsNul(parsed)) addIssue('must be JSON');
      return parsed;
    })
    .pipe(value);
  partRules.add(field, { maxBytes });
  return field;
}

/** A form of exactly one file. It ignores other fields, but refuses other files. */
export const FileForm = <Name extends string>(name: Name, maxBytes: number) =>
  z
    .looseObject({ [name]: formFile(maxBytes) } as Record<Name, ReturnType<typeof formFile>>)
    .meta({ example: { [name]: '(bytes)' } });

/**
 * Registers routes whose `schema.body` is a form: a zod object of fields and files, sent as multipart/form-data and read with
 * `readForm`. A route's `bodyLimit` bounds the whole form; the default is the sum of the limits of its parts.
 */
export function acceptForms(app: App, register: (scope: App) => void): void {
  void app.register((scope, _options, done) => {
    // Multipart bodies stay unread here; any other content type is 415.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('multipart/form-data', (_request, _payload, parsed) => parsed(null));
    scope.addHook('onRoute', (route) => {
      const form = route.schema?.body as z.ZodObject;
      Object.assign(route.schema ?? {}, { consumes: ['multipart/form-data'] });
      route.bodyLimit ??= Object.values(form.shape)
        .map(ruleOf)
        .reduce((sum, { maxBytes, maxFiles = 1 }) => sum + maxBytes * maxFiles, 0);
      route.validatorCompiler = ({ schema, httpPart }) =>
        httpPart === 'body' ? (value: unknown) => ({ value }) : readerOf(schema as z.ZodType);
    });
    // These checks precede the look-up of the target, and `readForm` follows it.
    scope.addHook('preValidation', (request, _reply, next) => {
      const announced = Number(request.headers['content-length'] ?? 0);
      const { bodyLimit } = request.routeOptions;
      if (request.headers['content-type'] === undefined) next(noMultipart());
      else next(encodingRefusal(request) ?? (announced > bodyLimit + envelopeBytes ? overfull(request) : undefined));
    });
    register(scope);
    done();
  });
}

/**
 * Reads the fields and files of a form and parses them with its schema. Throws while the form arrives: 413 for too many files and for a
 * field, file or form that is too large, 400 for unknown parts. Memory never holds more than these limits.
 */
export async function readForm<Form>(request: FastifyRequest & { body: Form }): Promise<Form> {
  const { bodyLimit } = request.routeOptions;
  const form = formOf(request);
  const taken: { name: string; rule: PartRule; value?: unknown }[] = [];
  let unknownFields = 0;
  let bytes = 0;

  async function take({ name, isFile, fileName, body }: Part): Promise<void> {
    const schema = Object.hasOwn(form.shape, name) ? form.shape[name] : undefined;
    if (schema === undefined) {
      unknownFields += 1;
      if (isFile || form.def.catchall?._zod.def.type !== 'unknown' || unknownFields > maxUnknownFields)
        throw invalidField(name.slice(0, 100), 'is not part of this form');
      return void body.resume();
    }
    const rule = ruleOf(schema);
    const already = taken.filter((one) => one.name === name).length;
    if (isFile && rule.maxFiles === undefined) throw invalidField(name, 'must be text');
    if (!isFile && rule.maxFiles !== undefined) throw invalidField(name, 'must be a file');
    if (!isFile && already > 0) throw invalidField(name, 'must be given once');
    if (already === rule.maxFiles) throw tooMany(name, rule);
    // Added before its content arrives, so that parts stay in the order in which they began.
    const one: (typeof taken)[number] = { name, rule };
    taken.push(one);
    const content = await readBytes(request, body, rule.maxBytes, () => tooLong(name, rule));
    bytes += content.length;
    if (bytes > bodyLimit) throw overfull(request);
    // Browsers send an empty file without a name if the user chose none.
    if (isFile && !fileName && content.length === 0) return;
    one.value = isFile ? { name: fileName, bytes: content } : textOf(name, content);
  }
  await readParts(request, bodyLimit + envelopeBytes, take);

  const values: Record<string, unknown> = {};
  for (const { name, rule, value } of taken) {
    if (value === undefined) continue;
    values[name] = rule.isList ? [...((values[name] as unknown[] | undefined) ?? []), value] : value;
  }
  const read = readerOf(form)(values);
  if ('error' in read) throw read.error;
  return read.value as Form;
}

const formOf = (request: FastifyRequest) => request.routeOptions.schema?.body as z.ZodObject;

/** The limits of a part, also if its schema is optional, nullable or has a default. */
function ruleOf(schema: z.core.$ZodType): PartRule {
  const rule = partRules.get(schema);
  if (rule) return rule;
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType };
  return innerType ? ruleOf(innerType) : { maxBytes: fieldMaxBytes };
}

function textOf(name: string, bytes: Buffer): string {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) throw invalidField(name, 'must be UTF-8 text');
  if (text.includes('\0')) throw invalidField(name, 'must not contain NUL characters');
  return text;
}

/** Undefined for invalid JSON. Drops `__proto__`, which could reach a prototype, as for any JSON body. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value));
  } catch {
    return undefined;
  }
}

const noMultipart = (): PortalError =>
  new PortalError('UNSUPPORTED_MEDIA_TYPE', 'Please send this as multipart/form-data.');

const tooLong = (path: string, { maxBytes, tooLarge = 'PAYLOAD_TOO_LARGE' }: PartRule): PortalError =>
  refusal(tooLarge, `must not be larger than ${maxBytes} bytes`, path);

const tooMany = (path: string, { maxFiles, tooMany: code = 'PAYLOAD_TOO_LARGE' }: PartRule): PortalError =>
  refusal(code, maxFiles === 1 ? 'must be one file' : `must be at most ${maxFiles} files`, path);

const refusal = (code: CodeOf<'too_large'>, message: string, path: string): PortalError =>
  new PortalError(code, `The upload is larger than allowed: ${path} ${message}.`, { details: [{ path, message }] });

function overfull(request: FastifyRequest): PortalError {
  const codes = Object.values(formOf(request).shape).map((schema) => ruleOf(schema).tooLarge);
  const code = codes.find((one) => one !== undefined) ?? 'PAYLOAD_TOO_LARGE';
  return new PortalError(code, `The upload must not be larger than ${request.routeOptions.bodyLimit} bytes.`);
}
