/** The key for comparing names, which ignores case, spacing and Unicode composition. */
export const nameKey = (name: string): string =>
  // Upper case first, which makes ß and ss equal.
  tidied(name).toUpperCase().toLowerCase();

/** NFC, single spaces, trimmed. */
export const tidied = (name: string): string =>
  // Fast path: most names are tidy already, and a file can have 100,000 of them.
  /^[\u0021-\u007e\u00c0-\u00ff]+(?: [\u0021-\u007e\u00c0-\u00ff]+)*$/.test(name)
    ? name
    : name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim();

/** A heading in lower case without diacritics, spaces and punctuation: `Pers.-Nr.` is `persnr`. */
export const headingKey = (heading: string): string =>
  heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

/** Whether the first cell marks its line as a total. */
export const isTotal = (cell: string): boolean =>
  // The first pattern is a cheap filter: few lines begin with these letters.
  /^\W*[egstz]/i.test(cell) && /^(?:(?:gesamt|zwischen|end)?summe|gesamt|total)$/.test(headingKey(cell));

/** Shortens a cell for display. */
export const shownCell = (cell: string): string => (cell.length <= 100 ? cell : `${cell.slice(0, 99).toWellFormed()}…`);
