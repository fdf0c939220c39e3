import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import {
  Favorite,
  FavoriteChange,
  iconMaxBytes,
  maxFavorites,
  maxFavoritesOfAccount,
  NewFavorite,
} from '@portal/domain/dashboards/favorites';
import { Id } from '@portal/domain/ids';
import { reorderBody } from '@portal/domain/reorder';
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
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

/** The links of favorites widgets and their icons. */
export function registerFavorites(app: App): void {
  app.get(
    '/favorites',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'listFavorites',
        tags,
        summary: 'List your own favorites',
        description:
          'With `widgetId` the favorites of this widget in display order, otherwise all your favorites, widget by widget.',
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
        description: `The new favorite is placed last in its widget. A widget has at most ${maxFavorites} favorites, and an account ${maxFavoritesOfAccount}. The portal fetches the icon in the background from \`iconUrl\` or, without it, searches the page, unless the account already has 50 unfinished searches. The widget must be of the type \`favorites\`.`,
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
        summary: 'Reorder the favorites of a widget',
        description:
          'Send the ids of all favorites of one widget, each once, as a bare array or as `{ids}`. Returns the list in its new order. Without `widgetId` the widget of the first favorite is used.',
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
          'Changes only the fields that are sent. If the address of the page or of the icon changes, the icon found before is removed and searched for again; an uploaded icon is kept.',
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
        description: 'Also deletes its icon. The favorites after it move up.',
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
        summary: 'Get the icon of a favorite',
        description:
          'Returns the uploaded icon or the one that was found, always from a copy stored in the portal. 404 if the favorite has no icon. Clients may cache it for a day: with the `ETag` in `If-None-Match` the answer is 304 if nothing has changed. An SVG contains nothing that can be executed.',
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
        return sendFile(request, reply, { type, tag: String(version) }, (partOf) =>
          openIcon(request.ctx, icon, partOf),
        );
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
            'Multipart with one file in the field `icon`: a PNG, JPEG, GIF, WebP, ICO or SVG image (checked by content) of at most 512 KiB and 4,096 pixels per side. Everything that does not draw is removed from an SVG. The uploaded icon is shown instead of any icon that was found, until it is removed.',
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
          'After an uploaded icon is removed, the icon of the page is searched for again. An icon that was found is removed together with `iconUrl`. Succeeds even if the favorite has no icon.',
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
        summary: 'Search for the icon of a favorite again',
        description: `Answers 202 at once and continues in the background. ${waitsFor('it')} The run succeeds whether or not it finds an icon; if it does, \`iconVersion\` increases. The portal calls only public hosts and keeps an uploaded icon. An account has at most 50 unfinished searches.`,
        params: ById,
        response: {
          200: Run,
          202: StartedRun,
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startIconDiscovery(ctx, request.params.id);
      return answerRun(request, reply, started, { scope: ctx, result: () => getRun(ctx, started.runId) });
    },
  );
}
