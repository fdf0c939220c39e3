/** An IBAN in groups of four, as people read it out. */
export const groupedIban = (iban: string): string => iban.replaceAll(/\s/g, '').replaceAll(/.{4}(?=.)/g, '$& ');

/** False if a digit is wrong: the check digits of ISO 13616 do not match. */
export function isValidIban(iban: string): boolean {
  const plain = iban.replaceAll(/\s/g, '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{10,30}$/.test(plain)) return false;
  let rest = 0;
  for (const sign of plain.slice(4) + plain.slice(0, 4)) {
    // Letters count from A = 10.
    const value = Number.parseInt(sign, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
