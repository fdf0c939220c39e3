import { z } from 'zod';
import { Finding, type FindingCode, findingTexts } from './findings.ts';

/** A number as text, which keeps leading zeros; empty until it is set. */
export const settingNumber = (pattern: RegExp, min: number, message: string) =>
  z
    .string()
    .trim()
    .refine((text) => text === '' || (pattern.test(text) && Number(text) >= min), message);

const isGrossLohnart = (lohnart: string): boolean => Number(lohnart) >= 6_000 && Number(lohnart) <= 8_999;

export const CanteenSettings = z
  .object({
    beraternummer: settingNumber(/^\d{4,7}$/, 1_000, 'must have 4 to 7 digits')
      .default('')
      .describe('Beraternummer'),
    mandantennummer: settingNumber(/^\d{1,5}$/, 1, 'must have 1 to 5 digits')
      .default('')
      .describe('Mandantennummer'),
    lohnart: settingNumber(/^\d{1,4}$/, 1, 'must have 1 to 4 digits')
      .default('')
      .describe('Lohnart'),
    target: z.enum(['lodas', 'lohn-und-gehalt']).default('lodas').describe('The payroll program the file is for'),
    sign: z
      .enum(['minus', 'plus'])
      .default('minus')
      .describe('The sign that the payroll office expects for deductions; a test import shows which one'),
  })
  .refine(({ target, lohnart }) => target === 'lodas' || !isGrossLohnart(lohnart), {
    path: ['lohnart'],
    message: 'must be 1 to 5999 or 9000 to 9999 for Lohn und Gehalt',
  })
  .meta({
    id: 'CanteenSettings',
    example: { beraternummer: '1234567', mandantennummer: '12345', lohnart: '9010', target: 'lodas', sign: 'minus' },
  });
export type CanteenSettings = z.infer<typeof CanteenSettings>;

export const canteenDefaults: CanteenSettings = CanteenSettings.parse({});

/** The settings that an export needs and that are not set. */
export const missingCanteenSettings = (settings: CanteenSettings): string[] =>
  (['beraternummer', 'mandantennummer', 'lohnart'] as const).filter((name) => settings[name] === '');

const PersonSum = z.object({ personnelNumber: z.string(), name: z.string(), amountCents: z.int() });
export type PersonSum = z.infer<typeof PersonSum>;

const CanteenRow = z.object({
  row: z.int().describe('Line of the file where the record starts'),
  personnelNumber: z.string().describe('Without leading zeros; unchanged if it is not a valid personnel number'),
  name: z.string(),
  amountCents: z.int().nullable().describe('Null if it cannot be read'),
  warnings: z.array(z.enum(Object.keys(findingTexts) as [FindingCode, ...FindingCode[]])),
});
export type CanteenRow = z.infer<typeof CanteenRow>;

export const CsvEncoding = z.enum(['utf-8', 'utf-8-bom', 'windows-1252']);
export type CsvEncoding = z.infer<typeof CsvEncoding>;

export const CanteenPreview = z
  .object({
    encoding: CsvEncoding,
    rows: z.array(CanteenRow),
    totals: z
      .object({
        rows: z.int(),
        people: z.int(),
        amountCents: z.int(),
        byPerson: z.array(PersonSum).describe('Sorted by personnel number'),
      })
      .describe('Sums of the lines without faults'),
    errors: z.array(Finding).describe('Faults that exclude lines from an export; at most the first 1,000'),
    warnings: z.array(Finding).describe('Content that is left out or should be checked; at most the first 1,000'),
  })
  .meta({
    id: 'CanteenPreview',
    example: {
      encoding: 'windows-1252',
      rows: [{ row: 2, personnelNumber: '101', name: 'Ada Lovelace', amountCents: 4860, warnings: [] }],
      totals: {
        rows: 1,
        people: 1,
        amountCents: 4860,
        byPerson: [{ personnelNumber: '101', name: 'Ada Lovelace', amountCents: 4860 }],
      },
      errors: [],
      warnings: [],
    },
  });
export type CanteenPreview = z.infer<typeof CanteenPreview>;
