import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound, PortalError } from '@portal/domain/errors';
import type { App } from '../typed.ts';
import { type ErrorBody, errorBody, internalError, jsonType, statusOf } from './error-body.ts';

/** Answers every error that a route, a hook or the framework raises, in the one error shape. */
export function answerErrors(app: App): void {
  app.decorateRequest('failure');
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw notFound();
  });
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const body = bodyOf(error);
  if (body.statusCode >= 500 || isDatabaseRefusal(error)) request.failure = error;
  if (error instanceof PortalError && error.retryAfterSec !== undefined) {
    reply.header('retry-after', Math.max(1, Math.ceil(error.retryAfterSec)));
  } else if (body.statusCode === 503) {
    reply.header('retry-after', 5);
  }
  // Serialized here: a route's answer schema for the same status must not shape an error.
  reply.code(body.statusCode).type(jsonType).send(JSON.stringify(body));
}

function bodyOf(error: unknown): ErrorBody {
  if (error instanceof PortalError) return errorBody(statusOf[error.kind], error.code, error.message, error.details);
  const sqlState = sqlStateOf(error);
  if (sqlState !== null) return bodyOfSqlState(sqlState);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const known = frameworkErrors[error.code];
    if (known) return known;
    if (
      'statusCode' in error &&
      typeof error.statusCode === 'number' &&
      error.statusCode >= 400 &&
      error.statusCode < 500
    ) {
      return malformed;
    }
  }
  return internalError;
}

export const malformed = errorBody(400, 'VALIDATION_FAILED', 'The request is malformed.');
const invalidJson = errorBody(400, 'INVALID_JSON', 'The request body is not valid JSON.');
const notThere = errorBody(404, 'NOT_FOUND', notFound().message);

const frameworkErrors: Record<string, ErrorBody> = {
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: errorBody(
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'The request body has a content type this route does not take.',
  ),
  FST_ERR_BAD_URL: errorBody(400, 'VALIDATION_FAILED', 'The address is not validly encoded.'),
  // Ids are short: an address part of this length names nothing.
  FST_ERR_MAX_PARAM_LENGTH: notThere,
  FST_ERR_NOT_FOUND: notThere,
};

// Input that no schema caught but the database would not take: characters, forms and ranges of values (class 22).
const refusedInput = /^22/;
// Duplicate, reference to or from a row that changed at the same moment (class 23), deadlock and serialization failures.
const raced = /^(23505|23503|40P01|40001)$/;
// Statement or lock took too long, out of resources, server going away.
const overloaded = /^(57014|55P03|53...|57P0.|08...)$/;

function bodyOfSqlState(state: string): ErrorBody {
  if (refusedInput.test(state)) return malformed;
  if (raced.test(state))
    return errorBody(409, 'CONFLICT', 'Somebody changed this at the same time. Please look again.');
  if (overloaded.test(state))
    return errorBody(503, 'UNAVAILABLE', 'The database is too busy right now. Please try again in a few seconds.');
  return internalError;
}

const isDatabaseRefusal = (error: unknown): boolean => !(error instanceof PortalError) && sqlStateOf(error) !== null;

/** SQLSTATE of the database error at the root of `error`. */
function sqlStateOf(error: unknown): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    // `severity` is what only an answer of the database server has.
    if ('severity' in current && 'code' in current && typeof current.code === 'string') return current.code;
  }
  return null;
}
