import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Id, PathId } from '@portal/domain/ids';
import { CpvPrefix, Land, NoticeFormKey, SourceKey, TenderFilters } from '@portal/domain/tenders/filters';
import { readSearchText } from '@portal/domain/tenders/search-query';
import { Tender, TenderDetail, TenderFacets, Triage, TriageInput } from '@portal/domain/tenders/tenders';
import { line } from '@portal/domain/text';
import { Instant } from '@portal/domain/time';
import { getTender } from '@portal/usecases/tenders/get-tender';
import { listTenders, tenderSorts } from '@portal/usecases/tenders/list-tenders';
import { tenderFacets } from '@portal/usecases/tenders/tender-facets';
import { triageTender, triageTenders } from '@portal/usecases/tenders/triage';
import { pageQuery, sendPage } from '../paging.ts';
import type { App } from '../zod-app.ts';

const tags = ['tenders'];
const use = needs('tender-radar', 'USE');
const params = z.object({ id: PathId });

/** Several values between commas. */
const several = <Value extends z.ZodType<unknown, string>>(value: Value, max: number) =>
  z
    .string()
    .max(4_000)
    .transform((list) => list.split(',').map((one) => one.trim()))
    .pipe(z.array(value).min(1).max(max));

const flag = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

/** Words one search may hold (the limit of filters). */
const mostWords = 20;

const SearchText = line(200).refine((typed) => {
  const { all, phrases, none } = readSearchText(typed);
  return all.length + phrases.length + none.length <= mostWords;
}, `must not hold more than ${mostWords} words`);

/** A short form of filters; times of the calendar and what the caller noted are of the list alone. */
const search = {
  q: SearchText.optional().describe(
    'Words that all have to be there, “phrases” between quotes, `-words` that must not, beginnings with a star (`reinig*`). Umlauts may be spelled out, and a word is found at the end and the beginning of long ones',
  ),
  cpv: several(CpvPrefix, 50).optional().describe('Digits CPV codes begin with, several between commas'),
  bundesland: several(Land, 16).optional().describe('One or several; nationwide tenders match each'),
  source: several(SourceKey, 50).optional(),
  buyer: line(200).optional().describe('Words of the buyer’s name'),
  publishedFrom: Instant.optional(),
  publishedTo: Instant.optional(),
  deadlineFrom: Instant.optional().describe('A deadline nobody knows may be any'),
  deadlineTo: Instant.optional(),
  noticeType: several(NoticeFormKey, 8).optional().describe('Left out: calls that are still open'),
  favorite: flag.optional(),
  unread: flag.optional(),
};
const Search = z.object(search);

/** What the parameters ask for. */
function askedBy({
  q,
  cpv,
  bundesland,
  source,
  buyer,
  noticeType,
  favorite,
  unread,
  ...window
}: z.output<typeof Search>) {
  const filters: TenderFilters = {
    version: 1,
    combine: 'all',
    includeRss: true,
    ...(q !== undefined && { text: readSearchText(q) }),
    ...(cpv && { cpv: { prefixes: cpv, exclude: [], includeMissing: false } }),
    ...(bundesland && { region: { laender: bundesland, nuts: [], includeNationwide: true, includeUnknown: false } }),
    ...(buyer !== undefined && { buyer: { any: [buyer], none: [] } }),
    ...(noticeType && { kinds: noticeType }),
    ...(source && { sources: source }),
  };
  return { filters, window, triage: { favorite, unread } };
}

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
          'Without `noticeType` calls for competition that are still open. `X-Total-Count` says how many match, up to 1,000, and is left out beyond. By `published` the newest come first, by `deadline` what ends next; by `relevance` the 1,000 newest that match are ordered by how well the words of `q` fit. A tender that only a personal feed has shown is listed for those who registered it.',
        querystring: z.object({
          ...search,
          sort: z.enum(tenderSorts).default('published'),
          ...pageQuery({ after: Cursor }),
        }),
        response: { 200: z.array(Tender) },
      },
    },
    async (request, reply) => {
      const { sort, limit, cursor, ...asked } = request.query;
      return sendPage(reply, await listTenders(request.ctx, { ...askedBy(asked), sort, limit, after: cursor }));
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
        querystring: Search,
        response: { 200: TenderFacets },
      },
    },
    (request) => tenderFacets(request.ctx, askedBy(request.query)),
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
