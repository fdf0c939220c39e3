/** Why a text is no amount. */
export type AmountFault = 'AMOUNT_MISSING' | 'AMOUNT_INVALID' | 'AMOUNT_PRECISION';
/** Integer cents; ambiguous where another reader might have read something else. */
export type Amount = { cents: number; isAmbiguous: boolean } | { fault: AmountFault };

/** Of one cell; more is a typing error. */
const maxCents = 999_999_999;

const longestAmount = 40;
const currency = /^(?:€|EUR)\s*|(?<!\s)\s*(?:€|EUR)$/i;
/** Groups of three between marks that no program takes for a decimal mark: blanks of several widths and apostrophes. */
const groupedByBlank = /^[1-9]\d{0,2}([ '’\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?=$|[.,])/;

const invalidAmount: Amount = { fault: 'AMOUNT_INVALID' };

/**
 * Reads an amount as people in Germany write it, digit by digit and never as a fraction. What can be read in two ways is refused or said to
 * be ambiguous.
 */
export function parseAmount(text: string): Amount {
  // What nearly all of a hundred thousand cells look like.
  if (/^\d{1,7},\d\d$/.test(text)) return { cents: Number(text.replace(',', '')), isAmbiguous: false };
  const trimmed = text.trim();
  if (trimmed === '') return { fault: 'AMOUNT_MISSING' };
  if (trimmed.length > longestAmount) return invalidAmount;
  const { isNegative, digits } = withoutSign(trimmed.replaceAll('\u2212', '-'));
  return bounded(magnitudeOf(digits.replace(groupedByBlank, (groups) => groups.replaceAll(/\D/g, ''))), isNegative);
}

/** Takes sign and currency from around a number, each once. */
function withoutSign(text: string): { isNegative: boolean; digits: string } {
  const bare = text.replace(currency, '');
  const inBrackets = /^\((.*)\)$/.exec(bare)?.[1];
  const inner = (inBrackets ?? bare.replace(/^[+-]|-$/, '')).trim();
  return {
    isNegative: inBrackets !== undefined || /^-|-$/.test(bare),
    digits: bare === text ? inner.replace(currency, '') : inner,
  };
}

function magnitudeOf(text: string): Amount {
  if (/^\d+$/.test(text)) return amountOf(text, '');
  const [, whole = '', mark = '', decimals = ''] = /^(\d+)([.,])(\d+)$/.exec(text) ?? [];
  if (mark !== '') {
    const isThousands = mark === '.' && decimals.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
    return isThousands ? amountOf(whole + decimals, '', true) : amountOf(whole, decimals);
  }
  if (/^[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(text)) return amountOf(text.replaceAll('.', ''), '');
  const german = /^([1-9]\d{0,2}(?:\.\d{3})+),(\d+)$/.exec(text);
  if (german) return amountOf((german[1] ?? '').replaceAll('.', ''), german[2] ?? '');
  const english = /^([1-9]\d{0,2}(?:,\d{3})+)\.(\d+)$/.exec(text);
  if (english) return amountOf((english[1] ?? '').replaceAll(',', ''), english[2] ?? '', true);
  return invalidAmount;
}

const amountOf = (whole: string, decimals: string, isAmbiguous = false): Amount =>
  decimals.length > 2
    ? { fault: 'AMOUNT_PRECISION' }
    : { cents: Number(whole) * 100 + Number(decimals.padEnd(2, '0')), isAmbiguous };

function bounded(amount: Amount, isNegative: boolean): Amount {
  if ('fault' in amount) return amount;
  if (amount.cents > maxCents) return invalidAmount;
  return isNegative && amount.cents > 0 ? { ...amount, cents: -amount.cents } : amount;
}

/**
 * Cents of a number as a spreadsheet stores it: of its shortest decimal text, moved by two places. `value * 100` would make 1.005
 * a hundred cents.
 */
export function centsOfNumber(value: number): Amount {
  // Not a number is not below the limit either.
  if (!(Math.abs(value) <= maxCents / 100)) return invalidAmount;
  const text = String(Math.abs(value));
  // Below a millionth the text has an exponent of its own.
  const cents = Math.round(text.includes('e-') ? 0 : Number(`${text}e2`));
  return bounded({ cents, isAmbiguous: false }, value < 0);
}

/** `-1234,50`: decimal comma, two decimals, no other marks. */
export function formatAmount(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)}`;
}
