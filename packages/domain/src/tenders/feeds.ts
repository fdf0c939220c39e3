import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { Instant } from '../time.ts';
import { WebAddress } from '../web-address.ts';

export const sourceStates = ['off', 'new', 'running', 'ok', 'failed', 'gone'] as const;

const health = {
  lastRunAt: Instant.nullable(),
  lastSuccessAt: Instant.nullable(),
  state: z
    .enum(sourceStates)
    .describe('`off`: not read here; `new`: not read yet; `gone`: the feed reported that it no longer exists'),
  newCount: z.int().describe('New notices found by the last successful read'),
  error: z
    .string()
    .nullable()
    .describe('What went wrong at the last read, also with single notices; null if nothing went wrong'),
};

export const TenderSource = z.object({ key: z.string(), name: z.string(), ...health }).meta({
  id: 'TenderSource',
  example: {
    key: 'ted',
    name: 'TED',
    lastRunAt: '2026-11-20T08:30:00.000Z',
    lastSuccessAt: '2026-11-20T08:30:00.000Z',
    state: 'ok',
    newCount: 641,
    error: null,
  },
});
export type TenderSource = z.output<typeof TenderSource>;

/** Only its owner sees the tenders of a personal feed; every user sees those of a platform feed. */
export const feedScopes = ['personal', 'platform'] as const;

/** A normalized address, so that equal feeds share one source. */
export const FeedAddress = WebAddress.overwrite((typed) => {
  const url = URL.parse(typed);
  if (url === null) return typed;
  url.hash = '';
  return url.href;
});

export const NewRssFeed = z
  .object({
    url: FeedAddress,
    title: requiredLine().nullish(),
    scope: z.enum(feedScopes),
  })
  .meta({ example: { url: 'https://vergabe.example.org/feed.xml', title: 'City of Musterhausen', scope: 'personal' } });
export type NewRssFeed = z.output<typeof NewRssFeed>;

export const RssFeedChange = z
  .object({ title: requiredLine().nullish(), isActive: z.boolean().optional() })
  .meta({ example: { title: 'Musterhausen', isActive: false } });
export type RssFeedChange = z.output<typeof RssFeedChange>;

export const RssFeed = z
  .object({
    id: Id,
    url: z.string(),
    title: z.string().nullable(),
    scope: z.enum(feedScopes),
    isActive: z.boolean(),
    sourceKey: z.string().describe('Value for `source` in `GET /tenders`'),
    ...health,
    createdAt: Instant,
  })
  .meta({
    id: 'RssFeed',
    example: {
      id: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b',
      url: 'https://vergabe.example.org/feed.xml',
      title: 'City of Musterhausen',
      scope: 'personal',
      isActive: true,
      sourceKey: 'rss:0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4c',
      lastRunAt: null,
      lastSuccessAt: null,
      state: 'new',
      newCount: 0,
      error: null,
      createdAt: '2026-11-20T08:30:00.000Z',
    },
  });
export type RssFeed = z.output<typeof RssFeed>;
