import { shownFileName } from '../text.ts';

/** Types that users open. Other types get `.bin`, so that a click does not run them. */
const endings: Record<string, string> = { 'application/pdf': 'pdf', 'application/xml': 'xml' };
/** Maximum characters of a name without its extension; file systems allow 255 bytes. */
const stemMax = 150;

/**
 * The name under which a document of a mail is saved. Senders are not trusted, so the content decides the extension: a PDF called
 * `rechnung.exe` becomes `rechnung.pdf`, and a file that is neither PDF nor XML keeps its name and gets `.bin` appended.
 */
export function documentName(name: string | null, type: string): string {
  const ending = endings[type] ?? 'bin';
  const shown = shownFileName(name ?? undefined, '');
  // Windows drops trailing dots and spaces, so the text before them would become the extension.
  const trimmed = shown.replace(/[. ]{1,200}$/, '');
  const stem = ending === 'bin' ? trimmed.replace(/\.bin$/i, '') : trimmed.replace(/\.[A-Za-z0-9]{1,10}$/, '');
  const fallback = ending === 'bin' ? 'attachment' : 'invoice';
  return `${[...stem].slice(0, stemMax).join('').trim() || fallback}.${ending}`;
}
