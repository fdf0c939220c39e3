import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { PathId } from '@portal/domain/ids';
import { NewRssFeed, RssFeed, RssFeedChange } from '@portal/domain/tenders/feeds';
import { createFeed, deleteFeed, listFeeds, updateFeed } from '@portal/usecases/tenders/feeds';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');
const params = z.object({ id: PathId });

/** Feeds that tenders are read from: one's own, and those of everybody. */
export function registerRssFeeds(app: App): void {
  app.get(
    '/rss-feeds',
    {
      config: { access },
      schema: {
        operationId: 'listRssFeeds',
        tags,
        summary: 'List the own feeds and those of everybody',
        description: 'Oldest first, each with how its source is. Others’ personal feeds are nobody’s business.',
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
          'RSS, Atom or RDF at a public address. What a personal feed shows is listed for its owner alone until a public source shows it, too; one of the platform is for everybody and takes an administrator. 50 personal feeds are the limit.',
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
        summary: 'Rename a feed, or let it rest',
        description: 'The own ones; those of everybody take an administrator.',
        params,
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
          'The own ones; those of everybody take an administrator. Tenders that only a personal feed has shown go out of sight with it.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => deleteFeed(request.ctx, request.params.id),
  );
}
