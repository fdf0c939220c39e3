import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { TenderFilters } from './filters.ts';
import { Tender } from './tenders.ts';

/** Saved searches a user may have. */
export const maxSavedSearches = 50;

const exampleFilters = {
  version: 1 as const,
  text: { all: ['reinigung'], phrases: ['öffentliche Gebäude'], none: ['winterdienst'] },
  cpv: { prefixes: ['9091'], includeMissing: true },
  combine: 'any' as const,
  region: { laender: ['NW' as const, 'RP' as const] },
  deadline: { minDays: 3 },
};
const example = { name: 'Reinigung im Westen', filters: exampleFilters, instantAlert: true };

const name = requiredLine();
const instantAlert = z.boolean().describe('Whether new matches are reported within five minutes, in a separate mail');

export const NewSavedSearch = z
  .object({ name, filters: TenderFilters, instantAlert: instantAlert.default(false) })
  .meta({ example });
export type NewSavedSearch = z.output<typeof NewSavedSearch>;

/** Fields that are left out do not change; filters are replaced as a whole. */
export const SavedSearchChange = z
  .object({ name: name.optional(), filters: TenderFilters.optional(), instantAlert: instantAlert.optional() })
  .meta({ example: { instantAlert: false } });
export type SavedSearchChange = z.output<typeof SavedSearchChange>;

export const SavedSearch = z
  .object({
    id: Id,
    name: z.string(),
    filters: TenderFilters,
    instantAlert,
    matchCount: z
      .int()
      .describe('Number of tenders it has matched, including those of the 30 days before it was saved'),
    newCount: z.int().describe('Number of these tenders that the account has not read'),
  })
  .meta({
    id: 'SavedSearch',
    example: {
      id: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4c',
      ...example,
      filters: TenderFilters.parse(exampleFilters),
      matchCount: 12,
      newCount: 3,
    },
  });
export type SavedSearch = z.output<typeof SavedSearch>;

export const SearchPreview = z
  .object({
    count: z.int().describe('Number of matches, counted up to 1,000'),
    items: z.array(Tender).max(5).describe('The newest matches'),
  })
  .meta({ id: 'TenderSearchPreview', example: { count: 0, items: [] } });
export type SearchPreview = z.output<typeof SearchPreview>;

export const digestRhythms = ['daily', 'weekly', 'off'] as const;
export const NotificationPreference = z
  .object({ digest: z.enum(digestRhythms).describe('Daily at 7:00, on Mondays at 7:00, or not at all; Berlin time') })
  .meta({ id: 'TenderNotificationPreference', example: { digest: 'daily' } });
export type NotificationPreference = z.output<typeof NotificationPreference>;
export type DigestRhythm = NotificationPreference['digest'];

/** The kinds of mail that report matches. */
export const alertKinds = ['digest', 'instant'] as const;
export type AlertKind = (typeof alertKinds)[number];
