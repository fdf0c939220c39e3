import type { ErrorCode } from '@portal/domain/error-codes';
import { type ErrorBody, errorBody, statusOfCode } from '../plugins/error-body.ts';
import type { ListedRoute } from '../plugins/route-list.ts';

/** Error codes a route can answer, by status: its own, and those that follow from its access and its input. */
export function errorCodesOf({ method, url, schema, config }: ListedRoute): Map<number, ErrorCode[]> {
  const { access, errors = {} } = config;
  const needsSession = access.kind !== 'open';
  const changes = method !== 'GET';
  // Answers however much is under way.
  const isWatch = url.startsWith('/health');
  const rules: [code: ErrorCode, applies: boolean][] = [
    ['VALIDATION_FAILED', schema?.body !== undefined || schema?.querystring !== undefined],
    ['INVALID_JSON', schema?.body !== undefined],
    ['UNAUTHENTICATED', needsSession],
    ['ORIGIN_NOT_ALLOWED', changes],
    ['PASSWORD_CHANGE_REQUIRED', needsSession],
    ['FORBIDDEN', access.kind === 'role' || (access.kind === 'module' && access.level === 'ADMIN')],
    ['MODULE_DISABLED', access.kind === 'module'],
    ['MODULE_ACCESS_DENIED', access.kind === 'module' && access.level !== 'ADMIN'],
    ['MANAGE_REQUIRED', access.kind === 'module' && access.level === 'MANAGE'],
    ['NOT_FOUND', url.includes(':')],
    ['PAYLOAD_TOO_LARGE', schema?.body !== undefined],
    ['UNSUPPORTED_MEDIA_TYPE', schema?.body !== undefined],
    ['RATE_LIMITED', !isWatch],
    ['INTERNAL', true],
    ['UNAVAILABLE', !isWatch],
  ];
  const byRule = rules.flatMap(([code, applies]) => (applies ? [code] : []));
  const codes = new Set<ErrorCode>([...byRule, ...Object.values(errors).flat()]);
  return new Map([...Map.groupBy(codes, statusOfCode)].toSorted(([a], [b]) => a - b));
}

/** The answer with one of these codes, with an example for each. */
export function errorAnswer(status: number, codes: ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\``).join(' · '),
    ...((status === 429 || status === 503) && {
      headers: {
        'Retry-After': { description: 'Seconds until it is worth trying again', schema: { type: 'integer' } },
      },
    }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }])),
      },
    },
  };
}

function exampleError(code: ErrorCode): ErrorBody {
  const details = code === 'VALIDATION_FAILED' ? [{ path: 'name', message: 'must not be empty' }] : undefined;
  return errorBody(code, undefined, details);
}
