/** The start of a cell that a spreadsheet would run as a formula, including full-width characters. */
const formulaStart = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const neutralizedStart = /^'+[=+\-@\t\r\n＝＋－＠]/u;

/** Protects a cell from being run as a formula by putting an apostrophe before it. */
export const neutralized = (text: string): string => (formulaStart.test(text) ? `'${text}` : text);

/** Removes the apostrophe that `neutralized` added. */
export const restored = (text: string): string => (neutralizedStart.test(text) ? text.slice(1) : text);
