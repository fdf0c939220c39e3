const maxLength = 80;
/** Windows device names, which are reserved with any extension. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** A file name for a subject that is valid on every system. */
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

/** The common name in a subject with comma or line separators; the whole subject if it has none. */
export const commonNameOf = (subject: string): string =>
  /(?:^|[\n,][^\S\n]*)CN=([^\n,]*)/.exec(subject)?.[1] ?? subject;
