import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CodeOf } from '@portal/domain/error-codes';
import { invalidField, PortalError } from '@portal/domain/errors';
import { type Part, readParts } from './multipart.ts';
import { encodingRefusal, holdsNul } from './plugins/json-body.ts';
import { readBytes } from './plugins/read-bytes.ts';
import { type App, readerOf } from './zod-app.ts';

// Boundaries and part headers; far more than any client writes.
const envelopeBytes = 64 * 1024;
/** The longest text, 10,000 characters, whatever its letters. */
const fieldMaxBytes = 64 * 1024;
/** How many fields a loose form passes over. */
const maxStrangers = 10;

export interface UploadedFile {
  /** What the sender calls it, which may be anything. */
  name: string | undefined;
  bytes: Buffer;
}

/** The codes a form's 413 has, where they are its own. */
interface SizeCodes {
  tooLarge?: CodeOf<'too_large'>;
  tooMany?: CodeOf<'too_large'>;
}

/** What may come in under a name of a form. */
interface PartRule extends SizeCodes {
  maxBytes: number;
  /** No number for a field: that comes once. */
  maxFiles?: number;
  isList?: boolean;
}

const partRules = z.registry<PartRule>();

/** A file of a form. */
export const formFile = (maxBytes: number, codes: SizeCodes = {}) =>
  z
    .custom<UploadedFile>((value) => typeof value === 'object', 'must be a file')
    .meta({ type: 'string', format: 'binary' })
    .register(partRules, { maxBytes, maxFiles: 1, ...codes });

/** Several files of a form under one name, none of them larger than `maxBytes`. */
export const formFiles = (maxFiles: number, maxBytes: number, codes: SizeCodes = {}) =>
  z
    .array(formFile(maxBytes), 'must be a file')
    .min(1, 'must be a file')
    .max(maxFiles)
    .register(partRules, { maxBytes, maxFiles, isList: true, ...codes });

/** A field of a form that holds JSON. */
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

/** A form of one file. What else comes with it is passed over, unless it is another file. */
export const FileForm = <Name extends string>(name: Name, maxBytes: number) =>
  z
    .looseObject({ [name]: formFile(maxBytes) } as Record<Name, ReturnType<typeof formFile>>)
    .meta({ example: { [name]: '(bytes)' } });

/**
 * Routes whose `schema.body` is a form: a zod object of fields and files, sent as multipart/form-data and read with `readForm`. A
 * route's `bodyLimit` bounds all of its form together; without one that is the sum of what its parts may hold.
 */
export function acceptForms(app: App, register: (scope: App) => void): void {
  void app.register((scope, _options, done) => {
    // Nothing but multipart, and that is left as it comes: any other content type is 415.
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
    // Before the route looks up what the form is for (contract section 1, order of checks), and the form is read after that.
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
 * The fields and files of a form as its schema reads them. Throws while they come in: 413 for a field, a file or a form that is too
 * large and for too many files, 400 for what the form does not have. Nothing but what is within these limits is ever in memory.
 */
export async function readForm<Form>(request: FastifyRequest & { body: Form }): Promise<Form> {
  const { bodyLimit } = request.routeOptions;
  const form = formOf(request);
  const taken: { name: string; rule: PartRule; value?: unknown }[] = [];
  let strangers = 0;
  let bytes = 0;

  async function take({ name, isFile, fileName, body }: Part): Promise<void> {
    const schema = Object.hasOwn(form.shape, name) ? form.shape[name] : undefined;
    if (schema === undefined) {
      strangers += 1;
      if (isFile || form.def.catchall?._zod.def.type !== 'unknown' || strangers > maxStrangers)
        throw invalidField(name.slice(0, 100), 'is no part of this form');
      return void body.resume();
    }
    const rule = ruleOf(schema);
    const already = taken.filter((one) => one.name === name).length;
    if (isFile && rule.maxFiles === undefined) throw invalidField(name, 'must be text');
    if (!isFile && rule.maxFiles !== undefined) throw invalidField(name, 'must be a file');
    if (!isFile && already > 0) throw invalidField(name, 'must be given once');
    if (already === rule.maxFiles) throw tooMany(name, rule);
    // In the order in which they began.
    const one: (typeof taken)[number] = { name, rule };
    taken.push(one);
    const content = await readBytes(request, body, rule.maxBytes, () => tooLong(name, rule));
    bytes += content.length;
    if (bytes > bodyLimit) throw overfull(request);
    // What a browser sends for a file nobody chose.
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

/** What may come in for a part, whatever the form makes of it when it is missing. */
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

/** Undefined for what is no JSON. Keys that could reach a prototype are dropped, as from any JSON. */
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
