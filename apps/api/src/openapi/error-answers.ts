import type { ErrorCode } from '@portal/domain/error-codes';
import { type ErrorBody, errorBody, statusOfCode } from '../plugins/error-body.ts';
import type { ListedRoute } from '../plugins/route-list.ts';
import { headerRefs } from './headers.ts';
import { refTo } from './schemas.ts';

/** Error codes of a route by status: its own, and those that follow from its access and input. */
export function errorCodesOf({ method, url, schema, config }: ListedRoute): Map<number, ErrorCode[]> {
  const { access, errors = {} } = config;
  const needsSession = access.kind !== 'open';
  const changes = method !== 'GET';
  // `limitLoad` never refuses these for other requests' load.
  const isHealthCheck = url.startsWith('/health');
  const rules: [code: ErrorCode, applies: boolean][] = [
    // Any call may be malformed, for example without a Host header.
    ['VALIDATION_FAILED', true],
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
    ['RATE_LIMITED', !isHealthCheck],
    ['INTERNAL', true],
    ['UNAVAILABLE', !isHealthCheck],
  ];
  const byRule = rules.flatMap(([code, applies]) => (applies ? [code] : []));
  const codes = new Set<ErrorCode>([...byRule, ...Object.values(errors).flat()]);
  return new Map([...Map.groupBy(codes, statusOfCode)].toSorted(([a], [b]) => a - b));
}

/** The error answers of a document: each list of codes and each code appears once, and operations refer to it. */
export function openErrorBook() {
  const responses: Record<string, object> = {};
  const examples: Record<string, object> = {};
  return {
    responses,
    examples,
    /** A reference to the answer with one of these codes. */
    add(status: number, codes: ErrorCode[]) {
      const name = codes.join('.');
      for (const code of codes) examples[code] ??= { value: exampleError(code) };
      responses[name] ??= errorAnswer(status, codes);
      return refTo('responses', name);
    },
  };
}

function errorAnswer(status: number, codes: ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\``).join(' · '),
    ...((status === 429 || status === 503) && { headers: headerRefs(['Retry-After']) }),
    content: {
      'application/json': {
        schema: refTo('schemas', 'Error'),
        examples: Object.fromEntries(codes.map((code) => [code, refTo('examples', code)])),
      },
    },
  };
}

function exampleError(code: ErrorCode): ErrorBody {
  const details = code === 'VALIDATION_FAILED' ? [{ path: 'name', message: 'must not be empty' }] : undefined;
  return errorBody(code, undefined, details);
}
