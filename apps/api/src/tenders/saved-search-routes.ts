import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { PathId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import {
  NewSavedSearch,
  NotificationPreference,
  SavedSearch,
  SavedSearchChange,
  SearchPreview,
} from '@portal/domain/tenders/saved-searches';
import { notificationPreference, setNotificationPreference } from '@portal/usecases/tenders/alerts/preference';
import {
  createSavedSearch,
  deleteSavedSearch,
  listSavedSearches,
  previewSearch,
  updateSavedSearch,
} from '@portal/usecases/tenders/alerts/saved-searches';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');
const params = z.object({ id: PathId });

/** What people ask again and again, and how they are told of what is new. */
export function registerSavedSearches(app: App): void {
  app.get(
    '/tenders/saved-searches',
    {
      config: { access },
      schema: {
        operationId: 'listSavedSearches',
        tags,
        summary: 'List the own saved searches',
        description: 'By name. `GET /tenders?savedSearchId=` lists what one of them finds.',
        response: { 200: z.array(SavedSearch) },
      },
    },
    (request) => listSavedSearches(request.ctx),
  );

  app.post(
    '/tenders/saved-searches',
    {
      config: { access, errors: { 409: ['NAME_TAKEN', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'createSavedSearch',
        tags,
        summary: 'Save a search',
        description:
          'From now on tenders that match are told: by the digest, or within five minutes with `instantAlert`, which needs filters that ask for something. What it finds of the last 30 days counts as told. Names differ in more than case; 50 searches are the limit. Unknown keys in `filters` are 400, and so are words none of which can be searched.',
        body: NewSavedSearch,
        response: { 201: SavedSearch },
      },
    },
    (request) => createSavedSearch(request.ctx, request.body),
  );

  app.post(
    '/tenders/saved-searches/preview',
    {
      config: { access },
      schema: {
        operationId: 'previewSavedSearch',
        tags,
        summary: 'See what a search would find',
        description: 'The same tenders a list and the matches of a saved search would show.',
        body: z.object({ filters: TenderFilters }).meta({ example: { filters: { text: { all: ['reinigung'] } } } }),
        response: { 200: SearchPreview },
      },
    },
    (request) => previewSearch(request.ctx, request.body.filters),
  );

  app.patch(
    '/tenders/saved-searches/:id',
    {
      config: { access, errors: { 409: ['NAME_TAKEN'] } },
      schema: {
        operationId: 'updateSavedSearch',
        tags,
        summary: 'Change a saved search',
        description:
          'With other filters, what it had found and nobody was told is dropped, and what it finds of the last 30 days counts as told.',
        params,
        body: SavedSearchChange,
        response: { 200: SavedSearch },
      },
    },
    (request) => updateSavedSearch(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/tenders/saved-searches/:id',
    {
      config: { access },
      schema: {
        operationId: 'deleteSavedSearch',
        tags,
        summary: 'Remove a saved search',
        description: 'Nothing it has found is told any more.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => deleteSavedSearch(request.ctx, request.params.id),
  );

  app.get(
    '/tenders/notification-preference',
    {
      config: { access },
      schema: {
        operationId: 'getTenderNotificationPreference',
        tags,
        summary: 'Read how often the digest comes',
        description: 'Daily unless set.',
        response: { 200: NotificationPreference },
      },
    },
    (request) => notificationPreference(request.ctx),
  );

  app.put(
    '/tenders/notification-preference',
    {
      config: { access },
      schema: {
        operationId: 'setTenderNotificationPreference',
        tags,
        summary: 'Choose how often the digest comes',
        description:
          'Switched off, what was found meanwhile is not told later. Instant alerts are a matter of each saved search.',
        body: NotificationPreference,
        response: { 200: NotificationPreference },
      },
    },
    (request) => setNotificationPreference(request.ctx, request.body),
  );
}
