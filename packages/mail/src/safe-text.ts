// Control characters, and marks that override or embed text direction: a name must not reorder its sentence.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const unwanted = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Multi-line text without control characters; tabs become spaces, line ends become `\n`. */
export const cleanLines = (value: string): string =>
  value
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(unwanted, '');

/** Text on one line: every run of white space becomes one space. */
export const oneLine = (value: string): string => cleanLines(value).replaceAll(/\s+/g, ' ').trim();

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Puts right-to-left text between Unicode isolates, so that the punctuation next to it stays in place. */
export const isolated = (value: string): string => (rightToLeft.test(value) ? `\u2068${value}\u2069` : value);
