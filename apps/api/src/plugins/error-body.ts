import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { type ErrorCode, errorCodes, type ErrorKind } from '@portal/domain/error-codes';
import type { ErrorDetail } from '@portal/domain/errors';

/** The shape of every refusal and failure. */
export const ErrorBody = z
  .object({
    statusCode: z.int(),
    error: z.string().describe('Reason phrase of the status'),
    code: z.string().describe('The error for programs; never changes'),
    message: z.string().describe('The error for people: one plain English sentence'),
    details: z
      .array(
        z.object({
          path: z.string().describe('Path of the field in the input, with dots: `filters.cpv.0`'),
          message: z.string(),
          code: z.string().optional().describe('The fault for programs; only if the input is a file'),
        }),
      )
      .optional()
      .describe('The faults of the input'),
  })
  .meta({ id: 'Error', description: 'Every error has this form.' });
export type ErrorBody = z.infer<typeof ErrorBody>;

export const statusOf = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  busy: 429,
  headers_too_large: 431,
  internal: 500,
  upstream: 502,
  unavailable: 503,
} as const satisfies Record<ErrorKind, number>;

export const statusOfCode = (code: ErrorCode): number => statusOf[errorCodes[code].kind];

export function errorBody(
  code: ErrorCode,
  message: string = errorCodes[code].message,
  details?: ErrorDetail[],
): ErrorBody {
  const statusCode = statusOfCode(code);
  return { statusCode, error: STATUS_CODES[statusCode] ?? 'Error', code, message, ...(details && { details }) };
}

export const jsonType = 'application/json; charset=utf-8';

/** A fixed text: internal details belong in the log, never in an answer. */
export const internalError = errorBody('INTERNAL');
