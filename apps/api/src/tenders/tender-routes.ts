import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Id, PathId } from '@portal/domain/ids';
import { Tender, TenderDetail, TenderFacets, Triage, TriageInput } from '@portal/domain/tenders/tenders';
import { getTender } from '@portal/usecases/tenders/get-tender';
import { listTenders, tenderSorts } from '@portal/usecases/tenders/list-tenders';
import { tenderFacets } from '@portal/usecases/tenders/tender-facets';
import { triageTender, triageTenders } from '@portal/usecases/tenders/triage';
import { pageQuery, sendPage } from '../paging.ts';
import type { App } from '../zod-app.ts';
import { askedOf, TenderQuery } from './tender-query.ts';

const tags = ['tenders'];
const use = needs('tender-radar', 'USE');
const params = z.object({ id: PathId });

// What a page ended with; the database reads the value.
const Cursor = z.tuple([z.enum(tenderSorts), z.string().regex(/^(infinity|[\d :.e+-]{1,40})$/), Id]);

/** Lists of tenders, each tender, and what people note. */
export function registerTenderLists(app: App): void {
  app.get(
    '/tenders',
    {
      config: { access: use },
      schema: {
        operationId: 'listTenders',
        tags,
        summary: 'Find tenders',
        description:
          'Without `noticeType` calls for competition that are still open. `X-Total-Count` says how many match, up to 1,000, and is left out beyond. By `published` the newest come first, by `deadline` what ends next; by `relevance` the 1,000 newest that match are ordered by how well the words of `q` fit. A tender that only a personal feed has shown is listed for those who registered it, one of an alert mailbox for its owner. With `savedSearchId` its filters take the place of the usual ones, and what else is named narrows them.',
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
        summary: 'Count tenders by source, Land and division',
        description: 'Under the filters of `GET /tenders`; of more than 10,000 that match the newest are counted.',
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
        summary: 'Note several tenders as read or as favorites',
        description: 'All of them, or none: an id nobody knows is 404. What is left out stays as it is.',
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
          'A correction keeps the id. `alsoAt` names other sources of the same procurement, personal ones only to those who registered them.',
        params,
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
        summary: 'Note a tender as read or as a favorite',
        description: 'What is left out stays as it is.',
        params,
        body: TriageInput,
        response: { 200: Triage },
      },
    },
    (request) => triageTender(request.ctx, request.params.id, request.body),
  );
}
