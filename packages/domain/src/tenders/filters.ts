import { z } from 'zod';
import { requiredLine } from '../text.ts';
import { laender } from './laender.ts';
import { contractNatures, noticeForms } from './notice-record.ts';

const Word = requiredLine(60).min(2);
const words = z.array(Word).max(20);
const Phrase = Word.refine((phrase) => phrase.split(/\s+/).length <= 8, 'must not be longer than 8 words');

/** The first digits of CPV codes. Trailing zeros of a full code are removed: they stand for all codes below it. */
export const CpvPrefix = z
  .string()
  .regex(/^\d{2,8}$/, 'must be 2 to 8 digits')
  .overwrite((digits) =>
    digits.length === 8 ? digits.slice(0, 2) + digits.slice(2).replace(/(?<!0)0+$/, '') : digits,
  );

export const Land = z.enum(laender);
export const NoticeFormKey = z.enum(noticeForms);
/** `ted`, `oeffentlichevergabe`, `bund`, `mailbox` or `rss:` and the id of a feed. */
export const SourceKey = z
  .string()
  .regex(
    /^(ted|oeffentlichevergabe|bund|mailbox|rss:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
    'must be the key of a source',
  );

const days = z.int().min(0).max(3_650).nullable().default(null);
const amount = z.int().min(0).max(1_000_000_000_000).nullable().default(null);

/** The conditions of a search; the query parameters of the list are a short form. A block that is left out adds no condition. */
export const TenderFilters = z.strictObject({
  version: z.literal(1).default(1),
  text: z
    .strictObject({
      all: words.default([]),
      any: words.default([]),
      phrases: z.array(Phrase).max(20).default([]),
      none: words.default([]),
      /** Text that must occur in the title or the title of a lot, also in the middle of a word. */
      contains: z.array(Word.min(4)).max(5).default([]),
      fields: z
        .array(z.enum(['title', 'description', 'lots']))
        .max(3)
        .optional(),
    })
    .optional(),
  cpv: z
    .strictObject({
      prefixes: z.array(CpvPrefix).max(50).default([]),
      exclude: z.array(CpvPrefix).max(50).default([]),
      includeMissing: z.boolean().default(false),
    })
    .optional(),
  /** How words and CPV codes are combined; all other blocks must match in any case. */
  combine: z.enum(['all', 'any']).default('all'),
  region: z
    .strictObject({
      laender: z.array(Land).max(laender.length).default([]),
      nuts: z
        .array(z.string().regex(/^DE[0-9A-Z]{0,3}$/, 'must be a German NUTS code'))
        .max(50)
        .default([]),
      includeNationwide: z.boolean().default(true),
      includeUnknown: z.boolean().default(false),
    })
    .optional(),
  deadline: z.strictObject({ minDays: days, maxDays: days, includeUnknown: z.boolean().default(true) }).optional(),
  published: z.strictObject({ sinceDays: days }).optional(),
  buyer: z.strictObject({ any: words.default([]), none: words.default([]) }).optional(),
  kinds: z.array(NoticeFormKey).max(noticeForms.length).optional(),
  procedureTypes: z
    .array(z.string().regex(/^[\w-]{1,60}$/, 'must be a type of procedure'))
    .max(20)
    .optional(),
  natures: z.array(z.enum(contractNatures)).max(contractNatures.length).optional(),
  /** In whole units of the currency. */
  value: z
    .strictObject({
      min: amount,
      max: amount,
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/, 'must be a currency code')
        .default('EUR'),
      includeUnknown: z.boolean().default(true),
    })
    .optional(),
  sources: z.array(SourceKey).max(50).nullish(),
  includeRss: z.boolean().default(true),
});
export type TenderFilters = z.output<typeof TenderFilters>;
