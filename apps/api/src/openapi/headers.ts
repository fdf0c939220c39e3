import { refTo } from './schemas.ts';

/** Headers that mean the same wherever they stand. */
export const headers = {
  Link: { description: 'The next page (RFC 8288, `rel="next"`); absent on the last one', schema: { type: 'string' } },
  'X-Next-Cursor': { description: 'The next page’s `cursor`; absent on the last one', schema: { type: 'string' } },
  'X-Total-Count': {
    description: 'How many entries match in all, where counting is cheap',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds until it is worth trying again', schema: { type: 'integer' } },
} as const;

export const headerRefs = (names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
