import { formatAmount } from './amounts.ts';
import type { AccountSum } from './merchandise-lines.ts';
import { monthLabel } from './month.ts';
import { tidied } from './names.ts';
import { neutralized } from './spreadsheet-text.ts';
import { textOfLines } from './text-lines.ts';

const headings = ['Konto', 'Bezeichnung', 'Betrag', 'Zeitraum'];

/** A generic file with one line per account: account, name, amount and month. */
export function txtFile(
  sums: readonly AccountSum[],
  period: string,
  separator: string,
): { name: string; text: string } {
  const lines = sums.map(({ number, name, amountCents }) => [
    number,
    unquoted(name, separator),
    formatAmount(amountCents),
    monthLabel(period),
  ]);
  return {
    name: `Merchandise_${period}.txt`,
    text: textOfLines([headings, ...lines].map((cells) => cells.join(separator))),
  };
}

/** The format has no quoting, so a name must not contain the separator or begin with a quotation mark. */
function unquoted(name: string, separator: string): string {
  const safe = neutralized(tidied(name.replaceAll(separator, ' ')));
  return safe.startsWith('"') ? `'${safe}` : safe;
}
