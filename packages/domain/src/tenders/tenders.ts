import { z } from 'zod';
import { Id } from '../ids.ts';
import { Instant } from '../time.ts';
import { Land, NoticeFormKey } from './filters.ts';

export const Triage = z.object({ read: z.boolean(), favorite: z.boolean() }).meta({ id: 'TenderTriage' });
export type Triage = z.output<typeof Triage>;

/** Fields that are left out do not change. */
export const TriageInput = z
  .object({ read: z.boolean().optional(), favorite: z.boolean().optional() })
  .meta({ example: { read: true, favorite: true } });
export type TriageInput = z.output<typeof TriageInput>;

const tender = {
  id: Id,
  title: z.string(),
  buyerName: z.string().nullable(),
  buyerCity: z.string().nullable(),
  cpvCodes: z.array(z.string()).describe('Eight digits each, the main code first'),
  cpvDivisions: z.array(z.string()),
  bundesland: Land.nullable().describe('The federal state, if there is exactly one'),
  bundeslaender: z.array(Land),
  isNationwide: z.boolean(),
  region: z.string().nullable(),
  noticeType: NoticeFormKey.nullable().describe(
    'Form type of the notice (BT-03); null if its source does not state it',
  ),
  procedureType: z.string().nullable(),
  publishedAt: Instant,
  deadlineAt: Instant.nullable().describe(
    'The earliest deadline in the future, otherwise the last one; null if no deadline is known',
  ),
  deadlineIsDateOnly: z
    .boolean()
    .describe('True if only a day was given; `deadlineAt` is then the end of that day in Berlin'),
  valueCents: z.int().nullable(),
  currency: z.string().nullable(),
  sourcePortal: z.string(),
  sourceNoticeId: z.string(),
  sourceUrl: z.string().nullable(),
  isCancelled: z.boolean(),
  triage: Triage,
};

const example = {
  id: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b',
  title: 'Glas- und Unterhaltsreinigung Rathaus',
  buyerName: 'Stadt Musterhausen',
  buyerCity: 'Musterhausen',
  cpvCodes: ['90911000'],
  cpvDivisions: ['90'],
  bundesland: 'NW',
  bundeslaender: ['NW'],
  isNationwide: false,
  region: '50667 Musterhausen',
  noticeType: 'competition',
  procedureType: 'open',
  publishedAt: '2026-11-19T00:00:00.000Z',
  deadlineAt: '2026-12-18T10:00:00.000Z',
  deadlineIsDateOnly: false,
  valueCents: 48_000_000,
  currency: 'EUR',
  sourcePortal: 'ted',
  sourceNoticeId: '700123-2026',
  sourceUrl: 'https://ted.europa.eu/de/notice/-/detail/700123-2026',
  isCancelled: false,
  triage: { read: false, favorite: true },
};

export const Tender = z.object(tender).meta({ id: 'Tender', example });
export type Tender = z.output<typeof Tender>;

const Lot = z.object({
  id: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  cpvCodes: z.array(z.string()),
  nutsCodes: z.array(z.string()),
  valueCents: z.int().nullable(),
  currency: z.string().nullable(),
});

const Deadline = z.object({
  kind: z.enum(['tender', 'participation', 'interest']),
  lotId: z.string().nullable(),
  at: Instant,
  isDateOnly: z.boolean(),
});

const OtherSource = z.object({
  sourcePortal: z.string(),
  sourceNoticeId: z.string(),
  sourceUrl: z.string().nullable(),
  publishedAt: Instant,
});

export const TenderDetail = z
  .object({
    ...tender,
    description: z.string().nullable(),
    lots: z.array(Lot),
    documentsUrl: z.string().nullable(),
    deadlines: z.array(Deadline).describe('All deadlines of all lots'),
    alsoAt: z.array(OtherSource).describe('The same procurement at other sources'),
  })
  .meta({
    id: 'TenderDetail',
    example: {
      ...example,
      description: 'Unterhaltsreinigung und Glasreinigung des Rathauses.',
      lots: [
        {
          id: 'LOT-0001',
          title: 'Unterhaltsreinigung',
          description: null,
          cpvCodes: ['90911000'],
          nutsCodes: ['DEA23'],
          valueCents: null,
          currency: null,
        },
      ],
      documentsUrl: 'https://vergabe.example.org/documents/1',
      deadlines: [{ kind: 'tender', lotId: 'LOT-0001', at: '2026-12-18T10:00:00.000Z', isDateOnly: false }],
      alsoAt: [
        {
          sourcePortal: 'oeffentlichevergabe',
          sourceNoticeId: '0b6d0000-0000-4000-8000-000000000001-01',
          sourceUrl: null,
          publishedAt: '2026-11-19T00:00:00.000Z',
        },
      ],
    },
  });
export type TenderDetail = z.output<typeof TenderDetail>;

const Count = z.object({ key: z.string(), count: z.int() });

export const TenderFacets = z
  .object({
    sources: z.array(Count),
    bundeslaender: z.array(Count).describe('A nationwide tender is counted for every federal state'),
    cpvDivisions: z.array(Count),
    isCapped: z
      .boolean()
      .describe('True if there are more than 10,000 tenders; then only the newest 10,000 were counted'),
  })
  .meta({
    id: 'TenderFacets',
    example: {
      sources: [{ key: 'ted', count: 12 }],
      bundeslaender: [{ key: 'NW', count: 7 }],
      cpvDivisions: [{ key: '90', count: 9 }],
      isCapped: false,
    },
  });
export type TenderFacets = z.output<typeof TenderFacets>;
