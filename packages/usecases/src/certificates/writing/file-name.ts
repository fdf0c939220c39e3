const maxLength = 80;
/** Names of devices, which Windows takes whatever stands behind a dot. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** A name for a file about somebody or some host, good on every system. */
export function safeFileName(name: string): string {
  const safe = name
    .normalize('NFC')
    .toWellFormed()
    .replace(/^\*\./, 'wildcard.')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .slice(0, maxLength)
    .replace(/^[.-]+|(?<![.-])[.-]+$/g, '');
  return safe === '' || reserved.test(safe.split('.')[0] ?? '') ? 'certificate' : safe;
}

/** The common name in a subject, whichever way its parts are set apart; the whole of it without one. */
export const commonNameOf = (subject: string): string =>
  /(?:^|[\n,][^\S\n]*)CN=([^\n,]*)/.exec(subject)?.[1] ?? subject;
