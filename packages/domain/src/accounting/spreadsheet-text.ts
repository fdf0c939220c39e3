/** How a cell begins that a spreadsheet would run, in the wide forms of East Asian keyboards too. */
const runs = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const quoted = /^'+[=+\-@\t\r\n＝＋－＠]/u;

/** Text for a cell of a file that a spreadsheet may open: what it would run stands behind an apostrophe and is text. */
export const neutralized = (text: string): string => (runs.test(text) ? `'${text}` : text);

/** Takes exactly that one apostrophe away again. */
export const restored = (text: string): string => (quoted.test(text) ? text.slice(1) : text);
