/** An ILIKE pattern that finds a text anywhere; `%` and `_` match literally. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
