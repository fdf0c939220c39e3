import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { NewRssFeed, RssFeed, RssFeedChange } from '@portal/domain/tenders/feeds';
import { createFeed, deleteFeed, listFeeds, updateFeed } from '@portal/usecases/tenders/feeds';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');

/** RSS feeds as sources of tenders: personal feeds and platform feeds. */
export function registerRssFeeds(app: App): void {
  app.get(
    '/rss-feeds',
    {
      config: { access },
      schema: {
        operationId: 'listRssFeeds',
        tags,
        summary: 'List your own feeds and the platform feeds',
        description: 'Oldest first, each with the status of its source. Other users’ personal feeds are not listed.',
        response: { 200: z.array(RssFeed) },
      },
    },
    (request) => listFeeds(request.ctx),
  );

  app.post(
    '/rss-feeds',
    {
      config: { access, errors: { 403: ['FORBIDDEN'], 409: ['FEED_EXISTS', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'createRssFeed',
        tags,
        summary: 'Register a feed',
        description:
          'The feed must be RSS, Atom or RDF at a public address. Tenders of a personal feed are listed only for its owner until a public source lists them, too. Tenders of a platform feed are listed for every user; only administrators can register one. A user can have 50 personal feeds.',
        body: NewRssFeed,
        response: { 201: RssFeed },
      },
    },
    async (request, reply) => reply.status(201).send(await createFeed(request.ctx, request.body)),
  );

  app.patch(
    '/rss-feeds/:id',
    {
      config: { access, errors: { 403: ['FORBIDDEN'] } },
      schema: {
        operationId: 'updateRssFeed',
        tags,
        summary: 'Rename a feed, or switch it on or off',
        description: 'Your own feeds; platform feeds can be changed by administrators only.',
        params: ById,
        body: RssFeedChange,
        response: { 200: RssFeed },
      },
    },
    (request) => updateFeed(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/rss-feeds/:id',
    {
      config: { access, errors: { 403: ['FORBIDDEN'] } },
      schema: {
        operationId: 'deleteRssFeed',
        tags,
        summary: 'Remove a feed',
        description:
          'Your own feeds; platform feeds can be removed by administrators only. Tenders that were listed only by a personal feed are no longer visible afterwards.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteFeed(request.ctx, request.params.id),
  );
}
