// C0 and C1 controls and the separators of Unicode: other programs end a line or the file at some of them. A tab may separate columns.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const breaking = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]+/gu;

/**
 * The text of a file that another program reads line by line, with CRLF behind each line. All such files are written here: what could end a
 * line within one becomes a blank, so a name never becomes a line of its own.
 */
export const textOfLines = (lines: readonly string[]): string =>
  lines.map((line) => `${line.replaceAll(breaking, ' ')}\r\n`).join('');
