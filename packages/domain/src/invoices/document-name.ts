import { shownFileName } from '../text.ts';

/** Types that staff open; what is of another kind is not to be opened by a click. */
const endings: Record<string, string> = { 'application/pdf': 'pdf', 'application/xml': 'xml' };
/** Characters of a name without its ending; file systems take 255 bytes. */
const stemMax = 150;

/**
 * The name under which a document of a mail is saved. Anybody may send one, so its ending follows from what it holds: `rechnung.exe` that is
 * a PDF becomes `rechnung.pdf`, and what is neither PDF nor XML gets `.bin` behind the name it came with.
 */
export function documentName(name: string | null, type: string): string {
  const ending = endings[type] ?? 'bin';
  const shown = shownFileName(name ?? undefined, '');
  // Windows leaves out dots and blanks at the end, and what stands before them becomes the ending.
  const trimmed = shown.replace(/[. ]{1,200}$/, '');
  const stem = ending === 'bin' ? trimmed.replace(/\.bin$/i, '') : trimmed.replace(/\.[A-Za-z0-9]{1,10}$/, '');
  const fallback = ending === 'bin' ? 'attachment' : 'invoice';
  return `${[...stem].slice(0, stemMax).join('').trim() || fallback}.${ending}`;
}
