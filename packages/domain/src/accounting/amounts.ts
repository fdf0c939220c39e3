/** Why a text is not an amount. */
export type AmountFault = 'AMOUNT_MISSING' | 'AMOUNT_INVALID' | 'AMOUNT_PRECISION';
/** Integer cents; ambiguous if the text has a second plausible reading. */
export type Amount = { cents: number; isAmbiguous: boolean } | { fault: AmountFault };

/** Maximum of one cell; a larger amount is a typing error. */
const maxCents = 999_999_999;

const maxAmountLength = 40;
const currency = /^(?:€|EUR)\s*|(?<!\s)\s*(?:€|EUR)$/i;
/** Groups of three digits separated by spaces or apostrophes, which no program uses as a decimal mark. */
const groupedByBlank = /^[1-9]\d{0,2}([ '’\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?=$|[.,])/;

const invalidAmount: Amount = { fault: 'AMOUNT_INVALID' };

/**
 * Reads an amount in German notation from its digits, never via a floating-point number. An amount with two plausible readings is refused
 * or marked as ambiguous: a wrong cent costs more trust than a refused row costs time.
 */
export function parseAmount(text: string): Amount {
  // Fast path: nearly all of up to 100,000 cells have this form.
  if (/^\d{1,7},\d\d$/.test(text)) return { cents: Number(text.replace(',', '')), isAmbiguous: false };
  const trimmed = text.trim();
  if (trimmed === '') return { fault: 'AMOUNT_MISSING' };
  if (trimmed.length > maxAmountLength) return invalidAmount;
  const { isNegative, digits } = withoutSign(trimmed.replaceAll('\u2212', '-'));
  return bounded(magnitudeOf(digits.replace(groupedByBlank, (groups) => groups.replaceAll(/\D/g, ''))), isNegative);
}

/** Removes one sign and one currency mark around a number. */
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
 * Cents of a spreadsheet number, computed from its shortest decimal text shifted by two places. `value * 100` would turn 1.005 into 100
 * cents.
 */
export function centsOfNumber(value: number): Amount {
  // Negated so that NaN is refused, too.
  if (!(Math.abs(value) <= maxCents / 100)) return invalidAmount;
  const text = String(Math.abs(value));
  // Below a millionth the text already has an exponent.
  const cents = Math.round(text.includes('e-') ? 0 : Number(`${text}e2`));
  return bounded({ cents, isAmbiguous: false }, value < 0);
}

/** `-1234,50`: decimal comma, two decimals, no thousands separators. */
export function formatAmount(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)}`;
}
