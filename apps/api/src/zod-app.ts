import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Access } from '@portal/domain/access';
import type { CodeOf, ErrorKind } from '@portal/domain/error-codes';
import { invalid, type PortalError } from '@portal/domain/errors';
import { PathId } from '@portal/domain/ids';
import type { UserContext, SystemContext } from '@portal/platform/context';
import type { statusOf } from './plugins/error-body.ts';

/** The server with routes typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

type StatusOf = typeof statusOf;

/** A route's own error codes by status; those that follow from its access and input are added by rule. */
export type ErrorCodes = {
  [Kind in ErrorKind as StatusOf[Kind]]?: CodeOf<Kind>[];
};

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
    errors?: ErrorCodes;
    /** For routes that ask for no session: whose page a call comes from is no matter. */
    takesForeignOrigins?: boolean;
  }
  interface FastifyRequest {
    /** Who is calling, before any account is known. */
    system: SystemContext;
    /** The signed-in account's context; reading it on an open route throws. */
    ctx: UserContext;
  }
}

/** The parameters of a path that names one record. */
export const ById = z.object({ id: PathId });

/** The answer of a route that has nothing to say: status 204. */
export const NoContent = z.undefined().describe('Done.');

/** Checks a part of a request and reads it as its schema says. */
export const readerOf = (schema: z.ZodType) => (input: unknown) => {
  const parsed = schema.safeParse(input);
  return parsed.success ? { value: parsed.data } : { error: validationFailed(parsed.error) };
};

const unused = (): never => {
  throw new Error('A schema met a compiler that is not ours.');
};

/** For Fastify's options: unless told of others, it loads Ajv and a compiler of its own before `useZod` can set ours. */
export const zodOnly = { schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } } };

/** Compiles zod schemas for requests and answers, and types the routes by them. */
export function useZod(app: FastifyInstance): App {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => readerOf(schema));
  app.setSerializerCompiler(serializerCompiler);
  return app.withTypeProvider<ZodTypeProvider>();
}

/**
 * For a route's large bodies, which are mostly right: one that `isPlain` knows to pass the schema unchanged is taken as it is.
 * About all others, and about what is wrong with them, the schema decides.
 */
export const readPlainBodies =
  (isPlain: (body: unknown) => boolean) =>
  ({ schema, httpPart }: { schema: unknown; httpPart?: string }) => {
    const read = readerOf(schema as z.ZodType);
    return httpPart === 'body' ? (body: unknown) => (isPlain(body) ? { value: body } : read(body)) : read;
  };

// Bounds the answer to a list with thousands of wrong entries.
const maxDetails = 50;

function validationFailed(error: z.ZodError): PortalError {
  const details = error.issues
    .slice(0, maxDetails)
    .map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  return invalid('VALIDATION_FAILED', undefined, { details });
}
