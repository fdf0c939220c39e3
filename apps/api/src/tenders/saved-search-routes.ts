import { z } from 'zod';
import { needs } from '@portal/domain/access';
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
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');

/** Saved searches and the notifications of their matches. */
export function registerSavedSearches(app: App): void {
  app.get(
    '/tenders/saved-searches',
    {
      config: { access },
      schema: {
        operationId: 'listSavedSearches',
        tags,
        summary: 'List your own saved searches',
        description:
          'Saved searches by name. `GET /tenders?savedSearchId=` lists the tenders that a saved search finds.',
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
          'From now on new matches are reported by mail: in the digest, or within five minutes with `instantAlert`, which needs filters that are not empty. Matches of the last 30 days count as already reported. Names must be unique regardless of case. A user can have 50 saved searches. 400 for unknown keys in `filters`, and if none of the words can be searched.',
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
        summary: 'Preview a search',
        description:
          'Returns the tenders that the list and the matches of a saved search with these filters would show.',
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
          'If the filters change, matches that were not reported yet are dropped, and matches of the last 30 days count as already reported.',
        params: ById,
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
        summary: 'Delete a saved search',
        description: 'Its matches are no longer reported.',
        params: ById,
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
        summary: 'Read how often the digest is sent',
        description: 'Default is `daily`.',
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
        summary: 'Choose how often the digest is sent',
        description:
          'Matches found while the digest is off are not reported later. Instant alerts are set in each saved search.',
        body: NotificationPreference,
        response: { 200: NotificationPreference },
      },
    },
    (request) => setNotificationPreference(request.ctx, request.body),
  );
}
