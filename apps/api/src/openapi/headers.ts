import { refTo } from './schemas.ts';

/** Headers with the same meaning in every answer. */
export const headers = {
  Link: { description: 'The next page (RFC 8288, `rel="next"`); absent on the last page', schema: { type: 'string' } },
  'X-Next-Cursor': {
    description: 'The `cursor` of the next page; absent on the last page',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description: 'Total number of matching entries; absent if counting would be expensive',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt', schema: { type: 'integer' } },
} as const;

export const headerRefs = (names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
