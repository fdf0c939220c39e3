import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { Favorite, FavoriteChange, iconMaxBytes, maxFavorites, NewFavorite } from '@portal/domain/dashboards/favorites';
import { Id, PathId } from '@portal/domain/ids';
import { reorderBody } from '@portal/domain/reorder';
import { waitForOperation } from '@portal/platform/operations/wait';
import {
  getIcon,
  openIcon,
  removeIcon,
  startIconDiscovery,
  uploadIcon,
} from '@portal/usecases/dashboards/favorite-icon';
import {
  addFavorite,
  changeFavorite,
  deleteFavorite,
  listFavorites,
  orderFavorites,
} from '@portal/usecases/dashboards/favorites';
import { getRun } from '@portal/usecases/operations/get-run';
import { sendFile, sendStored } from '../files.ts';
import { Run } from '../operations/work-routes.ts';
import { preferenceApplied, preferredWait } from '../prefer.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

const ById = z.object({ id: PathId });

/** The links of favorites widgets, and the icon of each. */
export function registerFavorites(app: App): void {
  app.get(
    '/favorites',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'listFavorites',
        tags,
        summary: 'List the own favorites',
        description: 'Those of one widget in their order, or all of them, widget by widget.',
        querystring: z.object({ widgetId: Id.optional() }),
        response: { 200: z.array(Favorite) },
      },
    },
    (request) => listFavorites(request.ctx, request.query.widgetId),
  );

  app.post(
    '/favorites',
    {
      config: { access, errors: { 404: ['NOT_FOUND'], 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'addFavorite',
        tags,
        summary: 'Add a favorite',
        description: `Behind the others of its widget, ${maxFavorites} at most. Its icon is looked for in the background, unless 50 searches of the account are under way: at \`iconUrl\`, else on the page itself. A widget of another type is refused.`,
        body: NewFavorite,
        response: { 201: Favorite },
      },
    },
    (request) => addFavorite(request.ctx, request.body),
  );

  app.put(
    '/favorites/order',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'orderFavorites',
        tags,
        summary: 'Put the favorites of a widget into another order',
        description:
          'Takes the ids of all favorites of one widget, each once, bare or as `ids`, and answers the list in its new order. Without `widgetId` it is the widget of the first one.',
        body: reorderBody({ widgetId: Id.optional() }, maxFavorites).meta({
          example: { ids: ['0198d3c7-4f50-7162-8d7e-8f9a0b1c2d3e'] },
        }),
        response: { 200: z.array(Favorite) },
      },
    },
    (request) => orderFavorites(request.ctx, request.body),
  );

  app.patch(
    '/favorites/:id',
    {
      config: { access },
      schema: {
        operationId: 'changeFavorite',
        tags,
        summary: 'Change a favorite',
        description:
          'Changes what is named. With another address, of the page or of the icon, the icon found before goes and another one is looked for; an uploaded one stays.',
        params: ById,
        body: FavoriteChange,
        response: { 200: Favorite },
      },
    },
    (request) => changeFavorite(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/favorites/:id',
    {
      config: { access },
      schema: {
        operationId: 'deleteFavorite',
        tags,
        summary: 'Delete a favorite',
        description: 'With its icon. Those behind it move up.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteFavorite(request.ctx, request.params.id),
  );

  app.get(
    '/favorites/:id/icon',
    {
      config: { access },
      schema: {
        operationId: 'getIcon',
        tags,
        summary: 'The icon of a favorite',
        description:
          'Uploaded or found, always a copy kept here; 404 while there is none. May be kept for a day: with the `ETag` in `If-None-Match` the answer is 304 as long as nothing has changed. An SVG holds nothing that could run.',
        params: ById,
        produces: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/x-icon', 'image/svg+xml'],
        response: { 200: z.any().describe('The icon'), 304: NoContent },
      },
    },
    (request, reply) =>
      sendStored(async () => {
        const icon = await getIcon(request.ctx, request.params.id);
        reply.header('cache-control', 'private, max-age=86400');
        const { type, version } = icon;
        return sendFile(request, reply, { type, tag: String(version) }, () => openIcon(request.ctx, icon));
      }),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/favorites/:id/icon',
      {
        config: { access, errors: { 400: ['UNSUPPORTED_IMAGE'] } },
        schema: {
          operationId: 'uploadIcon',
          tags,
          summary: 'Upload the icon of a favorite',
          description:
            'Multipart, one file in the field `icon`: PNG, JPEG, GIF, WebP, ICO or SVG by content, at most 512 KiB and 4,096 pixels a side. Of an SVG only what draws is kept. It is shown instead of any found one until it is removed.',
          params: ById,
          body: FileForm('icon', iconMaxBytes),
          response: { 200: Favorite },
        },
      },
      async (request) => uploadIcon(request.ctx, request.params.id, async () => (await readForm(request)).icon.bytes),
    );
  });

  app.delete(
    '/favorites/:id/icon',
    {
      config: { access },
      schema: {
        operationId: 'removeIcon',
        tags,
        summary: 'Remove the icon of a favorite',
        description:
          'After an uploaded one, the page’s own is looked for again. One that was found goes together with `iconUrl`. None at all is fine.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => removeIcon(request.ctx, request.params.id),
  );

  app.post(
    '/favorites/:id/discover-icon',
    {
      config: { access, errors: { 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'startIconDiscovery',
        tags,
        summary: 'Look for the icon of a favorite again',
        description:
          'Answers 202 at once and goes on in the background; with `Prefer: wait=N` (RFC 7240, at most 25 s) it waits that long and, once the run is over, answers it with status 200. The run succeeds whether or not an icon was found: `iconVersion` rises when there is one. Only public hosts are called, and an uploaded icon stays. An account has at most 50 searches under way.',
        params: ById,
        response: {
          200: Run,
          202: z.object({ runId: Id }).meta({ example: { runId: '0198d3c9-1c2d-7e3f-8a4b-5c6d7e8f9a0b' } }),
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startIconDiscovery(ctx, request.params.id);
      const seconds = preferredWait(request);
      if (seconds === null) return reply.status(202).send(started);
      preferenceApplied(reply, seconds);
      return (await waitForOperation(ctx, started.runId, seconds))
        ? reply.status(200).send(await getRun(ctx, started.runId))
        : reply.status(202).send(started);
    },
  );
}
