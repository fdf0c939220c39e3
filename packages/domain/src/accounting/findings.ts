import { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';

/** Findings about a line of an upload, with their messages. Findings before the blank line exclude the line from an export. */
export const findingTexts = {
  COLUMN_COUNT: 'has a different number of cells than the header',
  PERSONNEL_MISSING: 'contains no personnel number',
  PERSONNEL_INVALID: 'must be a personnel number of 1 to 5 digits',
  NAME_MISSING: 'contains no name',
  NAME_TOO_LONG: 'must not be longer than 60 characters',
  NAME_INVALID: 'must not contain control characters',
  AMOUNT_MISSING: 'contains no amount',
  AMOUNT_INVALID: 'is not a valid amount',
  AMOUNT_PRECISION: 'has more than two decimals',
  AMOUNT_IS_DATE: 'is a date, not an amount',
  DATE_INVALID: 'is not a valid date',
  ACCOUNT_MISSING: 'has no account yet; please assign a number',
  ACCOUNT_INVALID: 'must be an account number of 1 to 9 digits',
  ACCOUNT_TOO_LONG: 'has too many digits for the length of the contra account',
  DUPLICATE_NUMBER: 'repeats the number of an earlier line',
  DUPLICATE_NAME: 'repeats the name of an earlier line',
  SUM_TOO_LARGE: 'adds up to more than the file can hold',

  NAME_UNMAPPABLE: 'contains a character that Windows-1252 does not have',
  AMOUNT_ZERO: 'is zero and is left out',
  AMOUNT_NEGATIVE: 'is negative and counts as a cancellation',
  AMOUNT_AMBIGUOUS: 'can be read in two ways; please check it',
  DATE_OUTSIDE_PERIOD: 'is outside the month',
  DUPLICATE_ROW: 'is the same as an earlier line',
  NAME_CONFLICT: 'has a different name than an earlier line with this personnel number',
  BADGE_NUMBER: 'is a badge number, which is not always the personnel number',
  TOTAL_LEFT_OUT: 'is a total and is left out',
  TOTAL_DIFFERS: 'is a total that differs from the sum of the lines above',
  SUM_NEGATIVE: 'adds up to less than zero',
  SUM_ZERO: 'adds up to zero and is left out',
  SHEETS_IGNORED: 'Only the first visible sheet is read.',
} as const;
export type FindingCode = keyof typeof findingTexts;

/** Maximum findings in an answer; a longer list does not help users. */
export const maxFindings = 1_000;

export const Finding = z
  .object({
    row: z.int().nullable().describe('Line of the file where the record starts; null for the whole file'),
    column: z.string().nullable().describe('Heading or letter of the column; null for the whole line'),
    code: z.enum(Object.keys(findingTexts) as [FindingCode, ...FindingCode[]]),
    message: z.string(),
  })
  .meta({
    id: 'AccountingFinding',
    example: { row: 3, column: 'Betrag', code: 'AMOUNT_PRECISION', message: 'has more than two decimals' },
  });
export type Finding = z.infer<typeof Finding>;

export const finding = (row: number | null, column: string | null, code: FindingCode): Finding => ({
  row,
  column,
  code,
  message: findingTexts[code],
});

/** The first 200 findings as error details, each with a path of line and column. */
export const detailsOf = (findings: readonly Finding[]): ErrorDetail[] =>
  findings.slice(0, 200).map(({ row, column, code, message }) => ({
    path: ['rows', row, column].filter((part) => part !== null).join('.'),
    message,
    code,
  }));
