import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound, PortalError } from '@portal/domain/errors';
import { isDatabaseRefusal, refusalByDatabase } from '@portal/platform/database-refusal';
import type { App } from '../zod-app.ts';
import { type ErrorBody, errorBody, internalError, jsonType } from './error-body.ts';

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
  if (isWorthALook(error, body)) request.failure = error;
  if (error instanceof PortalError && error.retryAfterSec !== undefined) {
    reply.header('retry-after', Math.max(1, Math.ceil(error.retryAfterSec)));
  } else if (body.statusCode === 503) {
    reply.header('retry-after', 5);
  }
  // What a route said of the answer it was about to give is not true of this one.
  reply.header('cache-control', 'no-store').removeHeader('etag').removeHeader('content-disposition');
  // Serialized here: a route's answer schema for the same status must not shape an error.
  reply.code(body.statusCode).type(jsonType).send(JSON.stringify(body));
}

/**
 * A refusal of ours says it all, also one for want of room; what went wrong behind one, somebody should see. A refusal of the database
 * says what a check of ours should have caught.
 */
const isWorthALook = (error: unknown, { statusCode }: ErrorBody): boolean =>
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
const notThere = errorBody('NOT_FOUND');

const frameworkErrors: Record<string, ErrorBody> = {
  FST_ERR_CTP_INVALID_JSON_BODY: invalidJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: invalidJson,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: errorBody('UNSUPPORTED_MEDIA_TYPE'),
  FST_ERR_BAD_URL: errorBody('VALIDATION_FAILED', 'The address is not validly encoded.'),
  // Ids are short: an address part of this length names nothing.
  FST_ERR_MAX_PARAM_LENGTH: notThere,
  FST_ERR_NOT_FOUND: notThere,
};
