import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound, PortalError } from '@portal/domain/errors';
import { isDatabaseRefusal, refusalByDatabase } from '@portal/platform/database-refusal';
import type { App } from '../zod-app.ts';
import { type ErrorBody, errorBody, internalError, jsonType } from './error-body.ts';

/** Answers every error of a route, a hook or the framework in the shape `ErrorBody`. */
export function answerErrors(app: App): void {
  app.decorateRequest('failure');
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw notFound();
  });
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const body = bodyOf(error);
  if (needsLog(error, body)) request.failure = error;
  if (error instanceof PortalError && error.retryAfterSec !== undefined) {
    reply.header('retry-after', Math.max(1, Math.ceil(error.retryAfterSec)));
  } else if (body.statusCode === 503) {
    reply.header('retry-after', 5);
  }
  // The route set these headers for another answer.
  reply.header('cache-control', 'no-store');
  for (const name of ['etag', 'content-disposition', 'content-encoding']) reply.removeHeader(name);
  // Serialized here: a route's answer schema for the same status must not shape an error.
  reply.code(body.statusCode).type(jsonType).send(JSON.stringify(body));
}

/**
 * Whether the log should show the error. A `PortalError` without a cause explains itself, a 503 under load included; its cause is worth
 * reading. A constraint that the database refused points to a missing check in our code.
 */
const needsLog = (error: unknown, { statusCode }: ErrorBody): boolean =>
  error instanceof PortalError
    ? statusCode >= 500 && error.cause !== undefined
    : statusCode >= 500 || isDatabaseRefusal(error);

function bodyOf(error: unknown): ErrorBody {
  const refusal = error instanceof PortalError ? error : refusalByDatabase(error);
  if (refusal) return errorBody(refusal.code, refusal.message, refusal.details);
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

export const malformed = errorBody('VALIDATION_FAILED', 'The request is malformed.');
const invalidJson = errorBody('INVALID_JSON');
const nothingHere = errorBody('NOT_FOUND');

const frameworkErrors: Record<string, ErrorBody> = {
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: errorBody('UNSUPPORTED_MEDIA_TYPE'),
  FST_ERR_BAD_URL: errorBody('VALIDATION_FAILED', 'The address is not validly encoded.'),
  // Ids are short: a path segment of this length names no record.
  FST_ERR_MAX_PARAM_LENGTH: nothingHere,
  FST_ERR_NOT_FOUND: nothingHere,
};
