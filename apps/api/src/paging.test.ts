import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open } from '@portal/domain/access';
import { testApp } from '../testing/app.ts';
import { pageQuery, sendPage } from './paging.ts';

const names = ['Ada', 'Berta', 'Cäsar', 'Dora', 'Emil'];

const { request } = await testApp({
  routes: (app) =>
    app.get(
      '/names',
      {
        config: { access: open('a test reads it') },
        schema: {
          querystring: z.object({
            search: z.string().optional(),
            ...pageQuery({ max: 4, standard: 2, after: z.string().max(20) }),
          }),
          response: { 200: z.array(z.string()) },
        },
      },
      (asked, reply) => {
        const { cursor, limit } = asked.query;
        const rest = names.filter((name) => cursor === undefined || name > cursor);
        const items = rest.slice(0, limit);
        return Promise.resolve(
          sendPage(reply, { items, next: rest.length > limit ? items.at(-1) : null, total: names.length }),
        );
      },
    ),
});

describe('a paged list', () => {
  it('links all pages and keeps the other parameters', async () => {
    const seen: string[][] = [];
    for (let url: string | undefined = '/names?search=%C3%A4%20b&limit=2'; url !== undefined;) {
      const answer: Awaited<ReturnType<typeof request>> = await request({ url });
      seen.push(answer.json());
      expect(answer.headers['x-total-count']).toBe('5');
      url = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link']))?.[1];
      if (url === undefined) continue;
      expect(new URL(url, 'http://x').searchParams.get('search')).toBe('ä b');
      expect(new URL(url, 'http://x').searchParams.get('cursor')).toBe(answer.headers['x-next-cursor']);
    }
    expect(seen).toEqual([['Ada', 'Berta'], ['Cäsar', 'Dora'], ['Emil']]);
  });

  it('uses its standard limit without a `limit` parameter', async () => {
    expect((await request({ url: '/names' })).json()).toEqual(['Ada', 'Berta']);
    expect((await request({ url: '/names?limit=4' })).json()).toHaveLength(4);
  });

  it.each([
    'limit=0',
    'limit=5',
    'limit=',
    'limit=two',
    'limit=1.5',
    'limit=1&limit=2',
    'cursor=',
    'cursor=%20',
    'cursor=e30',
    'cursor=bm8',
    'cursor=a&cursor=b',
  ])('refuses %s', async (query) => {
    const answer = await request({ url: `/names?${query}` });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: query.split('=')[0] }] });
  });
});
