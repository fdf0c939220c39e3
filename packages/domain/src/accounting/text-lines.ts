// C0 and C1 controls and Unicode separators: some programs end a line or the file at them. Tabs are allowed, as column separators.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const breaking = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]+/gu;

/**
 * The text of a file with a CRLF after each line. All files that other programs read line by line are written here: line breaks within a
 * line become spaces, so that a name cannot start a new line.
 */
export const textOfLines = (lines: readonly string[]): string =>
  lines.map((line) => `${line.replaceAll(breaking, ' ')}\r\n`).join('');
