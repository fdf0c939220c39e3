import { z } from 'zod';
import { Id } from '../ids.ts';
import { controlInLine, requiredLine } from '../text.ts';
import { settingNumber } from './canteen.ts';
import { Finding } from './findings.ts';
import { Month, parseDay } from './month.ts';
import { nameKey, tidied } from './names.ts';

/** Maximum accounts per tenant. */
export const accountLimit = 20_000;
export const accountNameMax = 60;
export const accountNumberPattern = /^(?=.*[1-9])\d{1,9}$/;

export const MerchandiseSettings = z
  .object({
    format: z
      .enum(['txt', 'extf'])
      .default('txt')
      .describe('`txt`: four columns that any program can import; `extf`: DATEV'),
    separator: z.enum([';', '\t', '|']).default(';').describe('Separator between the columns of `txt`'),
    defaultContraAccount: settingNumber(/^\d{4,8}$/, 1, 'must have 4 to 8 digits')
      .default('')
      .describe('Contra account (Gegenkonto) for `extf`; its number of digits is the length of all general accounts'),
    beraternummer: settingNumber(/^\d{4,7}$/, 1_001, 'must be 1001 to 9999999')
      .default('')
      .describe('Required for `extf`'),
    mandantennummer: settingNumber(/^\d{1,5}$/, 1, 'must have 1 to 5 digits')
      .default('')
      .describe('Required for `extf`'),
    fiscalYearStart: z
      .string()
      .trim()
      .regex(/^\d\d-\d\d$/, 'must be a day such as 01-01')
      // 29 February is refused, because a fiscal year begins every year.
      .refine((text) => parseDay(`2001-${text}`) !== null, 'must be a day of every year')
      .default('01-01')
      .describe('First day of the fiscal year, `MM-DD`'),
  })
  .meta({
    id: 'MerchandiseSettings',
    example: {
      format: 'extf',
      separator: ';',
      defaultContraAccount: '1460',
      beraternummer: '1001',
      mandantennummer: '456',
      fiscalYearStart: '01-01',
    },
  });
export type MerchandiseSettings = z.infer<typeof MerchandiseSettings>;

export const merchandiseDefaults: MerchandiseSettings = MerchandiseSettings.parse({});

/** The settings that an export needs and that are not set. */
export const missingMerchandiseSettings = (settings: MerchandiseSettings): string[] =>
  settings.format === 'txt'
    ? []
    : (['defaultContraAccount', 'beraternummer', 'mandantennummer'] as const).filter((name) => settings[name] === '');

/** Checked before trimming, so that a leading or trailing line break is refused, too. */
const withoutControls = () =>
  z.string().refine((value) => !controlInLine.test(value), 'must not contain control characters');
const AccountNumber = withoutControls().trim().regex(accountNumberPattern, 'must be 1 to 9 digits, not only zeros');
const AccountName = withoutControls()
  .trim()
  .min(1, 'must not be empty')
  .max(accountNameMax)
  .refine((value) => value.isWellFormed(), 'must be valid Unicode text')
  .overwrite(tidied);

export const AccountInput = z
  .object({ number: AccountNumber, name: AccountName })
  .meta({ id: 'MerchandiseAccountInput', example: { number: '8400', name: 'T-Shirts' } });
export type AccountInput = z.infer<typeof AccountInput>;

export const AccountChange = AccountInput.partial()
  // Drops undefined fields, so that a spread does not overwrite stored values with them.
  .transform(({ number, name }) => ({ ...(number !== undefined && { number }), ...(name !== undefined && { name }) }))
  .meta({ id: 'MerchandiseAccountChange', example: { name: 'T-Shirts' } });
export type AccountChange = z.infer<typeof AccountChange>;

export const MerchandiseAccount = z.object({ id: Id, number: z.string(), name: z.string() }).meta({
  id: 'MerchandiseAccount',
  example: { id: '0199c3a5-9c1e-7d3b-8a44-2f6f0c1d9e55', number: '8400', name: 'T-Shirts' },
});
export type MerchandiseAccount = z.infer<typeof MerchandiseAccount>;

export const AccountImport = z
  .object({ added: z.int(), changed: z.int(), removed: z.int() })
  .meta({ id: 'MerchandiseAccountImport', example: { added: 2, changed: 1, removed: 0 } });
export type AccountImport = z.infer<typeof AccountImport>;

export const Assignments = z
  .array(z.object({ name: requiredLine(), number: AccountNumber }))
  .max(accountLimit)
  .superRefine((assignments, { addIssue }) => {
    const [names, numbers] = [new Set<string>(), new Set<string>()];
    for (const [index, { name, number }] of assignments.entries()) {
      if (names.has(nameKey(name)))
        addIssue({ code: 'custom', path: [index, 'name'], message: 'must not occur twice' });
      if (numbers.has(number)) addIssue({ code: 'custom', path: [index, 'number'], message: 'must not occur twice' });
      names.add(nameKey(name));
      numbers.add(number);
    }
  })
  .meta({ example: [{ name: 'Tassen', number: '8401' }] });
export type Assignments = z.infer<typeof Assignments>;

export const MerchandiseHeader = z.object({
  text: z.string().describe('Cell B1, at most 60 characters'),
  period: Month.nullable().describe('The month that B1 names; null if it names none'),
});
export type MerchandiseHeader = z.infer<typeof MerchandiseHeader>;

const MerchandiseRow = z.object({
  row: z.int(),
  name: z.string(),
  amountCents: z.int().nullable().describe('Null if it cannot be read'),
  accountNumber: z.string().nullable().describe('Null if the account list has no such account'),
  isNew: z.boolean(),
});
export type MerchandiseRow = z.infer<typeof MerchandiseRow>;

export const MerchandisePreview = z
  .object({
    header: MerchandiseHeader,
    rows: z.array(MerchandiseRow),
    errors: z.array(Finding).describe('Faults that exclude rows from an export; at most the first 1,000'),
    warnings: z.array(Finding).describe('Content that is left out or should be checked; at most the first 1,000'),
    accountsVersion: z.int().describe('Version of the account list used for the comparison'),
  })
  .meta({
    id: 'MerchandisePreview',
    example: {
      header: { text: 'November 2026', period: '2026-11' },
      rows: [{ row: 2, name: 'T-Shirts', amountCents: 123456, accountNumber: '8400', isNew: false }],
      errors: [],
      warnings: [],
      accountsVersion: 7,
    },
  });
export type MerchandisePreview = z.infer<typeof MerchandisePreview>;
