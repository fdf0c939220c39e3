/** A name as lists compare it: without regard to case and to how its blanks and letters are put together. */
export const nameKey = (name: string): string =>
  // Upper case first: it is what makes one of ß and ss.
  tidied(name).toUpperCase().toLowerCase();

/** Letters in one piece, single blanks, none around. */
export const tidied = (name: string): string =>
  // Most names are as they should be, and a hundred thousand of them take their time.
  /^[\u0021-\u007e\u00c0-\u00ff]+(?: [\u0021-\u007e\u00c0-\u00ff]+)*$/.test(name)
    ? name
    : name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim();

/** A heading without case, marks above letters, blanks and punctuation: `Pers.-Nr.` is `persnr`. */
export const headingKey = (heading: string): string =>
  heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

/** Whether a line's first cell says that the line is a total. */
export const isTotal = (cell: string): boolean =>
  // Few lines begin with such a letter, and those are looked at more closely.
  /^\W*[egstz]/i.test(cell) && /^(?:(?:gesamt|zwischen|end)?summe|gesamt|total)$/.test(headingKey(cell));

/** Short enough to be shown, whatever stood in the file. */
export const shownCell = (cell: string): string => (cell.length <= 100 ? cell : `${cell.slice(0, 99).toWellFormed()}…`);
