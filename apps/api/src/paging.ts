import type { FastifyReply } from 'fastify';
import { z } from 'zod';

// A cursor holds one or two sort values of 200 characters at most.
const maxCursorLength = 1_500;

/**
 * The query of a paged list: `limit`, and `cursor` for the next page. `after` is the schema of a cursor's content:
 * the sort value at the end of the previous page.
 */
export function pageQuery<After extends z.ZodType = z.ZodString>(
  options: { max?: number; standard?: number; after?: After } = {},
) {
  const { max = 200, standard = 50 } = options;
  const after: z.ZodType = options.after ?? z.string();
  return {
    limit: z.coerce.number().int().min(1).max(max).default(standard).describe('Maximum number of entries per page'),
    cursor: z
      .string()
      .max(maxCursorLength)
      .transform((cursor, check): z.output<After> => {
        const read = after.safeParse(decodeCursor(cursor));
        if (read.success) return read.data as z.output<After>;
        check.addIssue('is not a cursor of this list');
        return z.NEVER;
      })
      .optional()
      .describe('`X-Next-Cursor` of the previous page; if left out, the list starts at its beginning'),
  };
}

export interface Page<Item> {
  items: Item[];
  /** The content of the next page's cursor; null on the last page. */
  next: unknown;
  /** Number of all matching entries, if counting them needs no scan. */
  total?: number;
}

/** Answers a page as a bare array; the headers `Link` (RFC 8288) and `X-Next-Cursor` point to the next page. */
export function sendPage<Item>(reply: FastifyReply, page: Page<Item>): Item[] {
  if (page.total !== undefined) reply.header('x-total-count', page.total);
  if (page.next !== null) {
    const cursor = encodeCursor(page.next);
    const [path, query] = reply.request.url.split('?', 2);
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', cursor);
    reply.header('x-next-cursor', cursor);
    reply.header('link', `<${path}?${parameters.toString()}>; rel="next"`);
  }
  return page.items;
}

const encodeCursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
