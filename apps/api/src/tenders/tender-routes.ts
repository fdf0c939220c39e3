import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { Tender, TenderDetail, TenderFacets, Triage, TriageInput } from '@portal/domain/tenders/tenders';
import { getTender } from '@portal/usecases/tenders/get-tender';
import { listTenders, tenderSorts } from '@portal/usecases/tenders/list-tenders';
import { tenderFacets } from '@portal/usecases/tenders/tender-facets';
import { triageTender, triageTenders } from '@portal/usecases/tenders/triage';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, ById } from '../zod-app.ts';
import { askedOf, TenderQuery } from './tender-query.ts';

const tags = ['tenders'];
const use = needs('tender-radar', 'USE');

// The end of a page: sort order, sort key and id. PostgreSQL parses the key.
const Cursor = z.tuple([z.enum(tenderSorts), z.string().regex(/^(infinity|[\d :.e+-]{1,40})$/), Id]);

/** Lists of tenders, single tenders, and triage. */
export function registerTenderLists(app: App): void {
  app.get(
    '/tenders',
    {
      config: { access: use },
      schema: {
        operationId: 'listTenders',
        tags,
        summary: 'Search tenders',
        description:
          'Without `noticeType` the list has calls for competition that are still open. `X-Total-Count` is the number of matches; it is left out above 1,000. Sorting by `published` puts the newest first, sorting by `deadline` the next deadline; sorting by `relevance` orders the 1,000 newest matches by how well they match the words of `q`. A tender that only a personal feed has listed is visible only to users who registered that feed; a tender from an alert mailbox is visible only to its owner. With `savedSearchId` the filters of the saved search replace the default filters, and other parameters narrow the result.',
        querystring: z.object({
          ...TenderQuery.shape,
          sort: z.enum(tenderSorts).default('published'),
          ...pageQuery({ after: Cursor }),
        }),
        response: { 200: z.array(Tender) },
      },
    },
    async (request, reply) => {
      const { sort, limit, cursor, ...asked } = request.query;
      const { ctx } = request;
      return sendPage(reply, await listTenders(ctx, { ...(await askedOf(ctx, asked)), sort, limit, after: cursor }));
    },
  );

  app.get(
    '/tenders/facets',
    {
      config: { access: use },
      schema: {
        operationId: 'getTenderFacets',
        tags,
        summary: 'Count tenders by source, federal state and CPV division',
        description:
          'Uses the filters of `GET /tenders`. If more than 10,000 tenders match, only the newest 10,000 are counted.',
        querystring: TenderQuery,
        response: { 200: TenderFacets },
      },
    },
    async ({ ctx, query }) => tenderFacets(ctx, await askedOf(ctx, query)),
  );

  app.post(
    '/tenders/triage',
    {
      config: { access: use, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'triageTenders',
        tags,
        summary: 'Mark several tenders as read or as favorites',
        description:
          'Either all tenders are marked or none: if one id does not exist, the answer is 404. A field that is left out does not change.',
        body: z
          .object({ ids: z.array(Id).min(1).max(200), ...TriageInput.shape })
          .meta({ example: { ids: ['0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b'], read: true } }),
        response: {
          200: z
            .array(z.object({ id: Id, ...Triage.shape }))
            .meta({ example: [{ id: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b', read: true, favorite: false }] }),
        },
      },
    },
    ({ ctx, body: { ids, ...input } }) => triageTenders(ctx, ids, input),
  );

  app.get(
    '/tenders/:id',
    {
      config: { access: use },
      schema: {
        operationId: 'getTender',
        tags,
        summary: 'Read a tender',
        description:
          'A tender keeps its id when its notice is corrected. `alsoAt` names other sources of the same procurement; a personal source is named only to users who registered it.',
        params: ById,
        response: { 200: TenderDetail },
      },
    },
    (request) => getTender(request.ctx, request.params.id),
  );

  app.put(
    '/tenders/:id/triage',
    {
      config: { access: use },
      schema: {
        operationId: 'triageTender',
        tags,
        summary: 'Mark a tender as read or as a favorite',
        description: 'A field that is left out does not change.',
        params: ById,
        body: TriageInput,
        response: { 200: Triage },
      },
    },
    (request) => triageTender(request.ctx, request.params.id, request.body),
  );
}
