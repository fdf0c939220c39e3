/** A pattern for ILIKE that finds a text anywhere; `%` and `_` stand for themselves. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
