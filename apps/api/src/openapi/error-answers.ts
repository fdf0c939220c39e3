import { notFound } from '@portal/domain/errors';
import { type ErrorBody, errorBody } from '../plugins/error-body.ts';
import type { ListedRoute } from '../plugins/route-list.ts';

const sentences: Record<string, string> = {
  VALIDATION_FAILED: 'The request does not have the form it should have.',
  INVALID_JSON: 'The request body is not valid JSON.',
  UNAUTHENTICATED: 'Please sign in.',
  FORBIDDEN: 'You may not do this.',
  PASSWORD_CHANGE_REQUIRED: 'Please change your password first.',
  ORIGIN_NOT_ALLOWED: 'Requests from this origin are not allowed.',
  MODULE_DISABLED: 'This module is switched off for your organization.',
  MODULE_ACCESS_DENIED: 'You have no access to this module. Please ask an administrator of your organization.',
  MANAGE_REQUIRED: 'You may use this module, but not manage it. Please ask an administrator of your organization.',
  NOT_FOUND: notFound().message,
  PAYLOAD_TOO_LARGE: 'The request body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The request body has a content type this route does not take.',
  RATE_LIMITED: 'Too many attempts. Please wait before you try again.',
  INTERNAL: 'Something went wrong on our side.',
  UNAVAILABLE: 'The database cannot be reached right now. Please try again in a few seconds.',
};

/** Error codes a route can answer, by status: its own, and those that follow from its access and its input. */
export function errorCodesOf({ method, url, schema, config }: ListedRoute): Map<number, string[]> {
  const { access, errors = {} } = config;
  const needsSession = access.kind !== 'open';
  const changes = method !== 'GET';
  // Answers however much is under way.
  const isWatch = url.startsWith('/health');
  const rules: [status: number, code: string, applies: boolean][] = [
    [400, 'VALIDATION_FAILED', schema?.body !== undefined || schema?.querystring !== undefined],
    [400, 'INVALID_JSON', schema?.body !== undefined],
    [401, 'UNAUTHENTICATED', needsSession],
    [403, 'ORIGIN_NOT_ALLOWED', changes],
    [403, 'PASSWORD_CHANGE_REQUIRED', needsSession],
    [403, 'FORBIDDEN', access.kind === 'role'],
    [403, 'MODULE_DISABLED', access.kind === 'module'],
    [403, 'MODULE_ACCESS_DENIED', access.kind === 'module'],
    [403, 'MANAGE_REQUIRED', access.kind === 'module' && access.level === 'MANAGE'],
    [404, 'NOT_FOUND', url.includes(':')],
    [413, 'PAYLOAD_TOO_LARGE', schema?.body !== undefined],
    [415, 'UNSUPPORTED_MEDIA_TYPE', schema?.body !== undefined],
    [429, 'RATE_LIMITED', !isWatch],
    [500, 'INTERNAL', true],
    [503, 'UNAVAILABLE', !isWatch],
  ];
  const codes = new Map<number, string[]>();
  const add = (status: number, code: string) => codes.set(status, [...new Set([...(codes.get(status) ?? []), code])]);
  for (const [status, code, applies] of rules) if (applies) add(status, code);
  for (const [status, own] of Object.entries(errors)) for (const code of own) add(Number(status), code);
  return new Map([...codes].toSorted(([a], [b]) => a - b));
}

/** The answer with one of these codes, with an example for each. */
export function errorAnswer(status: number, codes: string[]) {
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
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleError(status, code) }])),
      },
    },
  };
}

function exampleError(status: number, code: string): ErrorBody {
  const details = code === 'VALIDATION_FAILED' ? [{ path: 'name', message: 'must not be empty' }] : undefined;
  return errorBody(status, code, sentences[code] ?? spokenOut(code), details);
}

/** `USERNAME_TAKEN` as words; what the service really says is in the use case. */
function spokenOut(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
