import { identity, type NoticeDraft, nothingKnown } from './notice-draft.ts';
import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';
import { type PortalLink, portalLinkIn } from './portal-links.ts';
import { deadlinesIn, placeIn, saidIn } from './said.ts';

/** A stretch of a mail that belongs together: a row of a table, an entry of a list, a paragraph, or what holds several of them. */
export interface MailBlock {
  start: number;
  end: number;
  parent: number | null;
  /** What stands out in it, outside of blocks within. */
  bold: string | null;
}

export interface MailLink {
  href: string;
  /** What is shown of it. */
  text: string;
  block: number;
}

/** What a reader of a mail sees: its text, cells of a row apart by tabs, with its links and blocks. */
export interface AlertMail {
  text: string;
  blocks: MailBlock[];
  links: MailLink[];
  /** Names and addresses of whom it was sent to. */
  readers: string[];
}

const maxNotices = 200;
/** Of a mail about a single notice the whole of it may be about that notice. */
const maxRecord = 4_000;

/**
 * What an alert mail of tender portals tells, one draft for each notice it links to. Of its words only what is named as title, buyer, place
 * and deadline is taken, and of its links only what names the notice: the rest may be about who reads it.
 */
export function readAlertMail(mail: AlertMail, sourcePortal: string): NoticeDraft[] {
  const found = new Map<string, { link: PortalLink; at: MailLink[] }>();
  for (const at of mail.links) {
    const link = portalLinkIn(at.href);
    if (!link) continue;
    const known = found.get(link.key);
    if (known) known.at.push(at);
    else if (found.size < maxNotices) found.set(link.key, { link, at: [at] });
  }
  const owners = blockOwners(mail, found);
  return [...found.values()].map(({ link, at }) => draftOf(mail, { link, at, owners, sourcePortal }));
}

/** Of each block with a notice in it which one that is; null where there are several. */
function blockOwners(
  { blocks }: AlertMail,
  found: ReadonlyMap<string, { at: MailLink[] }>,
): Map<number, string | null> {
  const owners = new Map<number, string | null>();
  for (const [key, { at }] of found) {
    for (const link of at) {
      for (let block: number | null = link.block; block !== null; block = blocks[block]?.parent ?? null) {
        const owner = owners.get(block);
        // Whatever holds this one has been told already.
        if (owner === key || owner === null) break;
        owners.set(block, owner === undefined ? key : null);
      }
    }
  }
  return owners;
}

interface Found {
  link: PortalLink;
  at: MailLink[];
  owners: ReadonlyMap<number, string | null>;
  sourcePortal: string;
}

function draftOf(mail: AlertMail, { link, at, owners, sourcePortal }: Found): NoticeDraft {
  const around = blocksAround(mail, at, (block) => owners.get(block) === link.key);
  const outermost = around.at(-1);
  const record = linesOf(outermost ? mail.text.slice(outermost.start, outermost.end) : '');
  const isFit = (line: string): boolean => isTitle(line) && !names(line, mail.readers);
  const line = (text: string | null): string | null => (text !== null && !names(text, mail.readers) ? text : null);
  const shown = at.map(({ text }) => bare(text)).filter(isFit);
  const nearest = around[0] ? linesOf(mail.text.slice(around[0].start, around[0].end)) : '';
  const place = line(saidIn(record, 'Erfüllungsort|Ausführungsort|Leistungsort|Ort der Leistung|Ort'));
  const title =
    shown.toSorted((a, b) => b.length - a.length)[0] ??
    line(saidIn(record, titleLabels)) ??
    around.map(({ bold }) => bare(bold ?? '')).find(isFit) ??
    nearest.split('\n').map(bare).find(isFit) ??
    `Bekanntmachung ${link.key.slice(link.key.indexOf(':') + 1)}`;
  return {
    ...nothingKnown,
    sourcePortal,
    ...identity(link.key),
    sourceUrl: link.url,
    publicationNumber: publicationNumberIn(link.url),
    noticeUuid: noticeUuidIn(link.url),
    bundId: bundIdIn(link.url),
    title,
    buyerName: line(saidIn(record, buyerLabels)),
    places: place === null ? [] : [placeIn(place)],
    // It counts from when it was first seen: portals remind of the same notice again and again.
    publishedAt: null,
    deadlines: deadlinesIn(record),
    links: [link.url],
  };
}

/** The blocks around links that are about the same notice alone, from the nearest outwards. */
function blocksAround({ blocks }: AlertMail, at: MailLink[], isOwn: (block: number) => boolean): MailBlock[] {
  const around: MailBlock[] = [];
  let place = at[0]?.block ?? null;
  while (place !== null) {
    const block: MailBlock | undefined = blocks[place];
    if (!block || !isOwn(place) || (around.length > 0 && block.end - block.start > maxRecord)) break;
    around.push(block.end - block.start > maxRecord ? { ...block, end: block.start + maxRecord } : block);
    place = block.parent;
  }
  return around;
}

const titleLabels = 'Titel|Bezeichnung|Maßnahme|Gegenstand|Kurzbezeichnung|Auftragsgegenstand';
const buyerLabels = '(?:Öffentlicher )?Auftraggeber(?:in)?|Vergabestelle|Ausschreibende Stelle';
const knownLabels = `${titleLabels}|${buyerLabels}|Erfüllungsort|Ausführungsort|Leistungsort|Ort der Leistung|Ort|Vergabenummer|Verfahrensart|Vergabeart|Veröffentlicht|(?:Angebots|Abgabe|Teilnahme|Bewerbungs|Einreichungs)(?:frist|termin|schluss)`;
const labelInLine = new RegExp(
  `[^\\S\\n]*(?:[\\t|·•;,]|\\s[–—-]\\s)[^\\S\\n]*(?=(?:${knownLabels})[^\\S\\n]*[:\\t])`,
  'giu',
);
const labelInCell = new RegExp(`^([^\\S\\n]*(?:${knownLabels}))[^\\S\\n]*:?[^\\S\\n]*\\t`, 'gimu');

/** A line for each thing that is said, with a colon behind what it is called. */
const linesOf = (text: string): string => text.replaceAll(labelInLine, '\n').replaceAll(labelInCell, '$1: ');

/** What a reader of a list sees of its entry. */
const bare = (line: string): string =>
  line
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^(?:\d{1,3}[.)]|[-–•*])\s+/u, '');

/** What is said of any notice, of the reader, or of nothing. */
const noTitle = [
  /^(?:https?:|www\.)/i,
  /^(?:(?:mehr|weitere|alle|zu den|zur|zum|hier|jetzt|bitte|link|details?|anzeigen|ansehen|öffnen|klicken|informationen|infos|bekanntmachung|ausschreibung|vergabeunterlagen|unterlagen|verfahren|detailansicht|projekt(?:raum)?|aufrufen|lesen|erfahren|neue|die|der|das|sie|im|portal|und|für)[\s.,:!…›»>→-]*)+$/iu,
  /^(?:sehr geehrte|guten (?:tag|morgen|abend)|hallo|liebe[rs]?|moin|mit freundlichen|viele grüße|ihr(?:e)? )/iu,
  /kunden-?(?:nr|nummer|kennung)|kd\.?-?nr|benutzer(?:name|kennung)|mitglieds-?(?:nr|nummer)|suchprofil|suchauftrag/iu,
  new RegExp(`^(?:${knownLabels})[^\\S\\n]*[:\\t]`, 'iu'),
];
const isTitle = (line: string): boolean =>
  line.length >= 8 && /\p{L}{3}/u.test(line) && !noTitle.some((pattern) => pattern.test(line));

/** Whether a line names who reads the mail, or anybody's address or number. */
const names = (line: string, readers: readonly string[]): boolean => {
  const text = line.toLowerCase();
  return (
    /[^\s@]@[^\s@]+\.\w/.test(line) ||
    /kunden-?(?:nr|nummer|kennung)/i.test(line) ||
    readers.some((reader) => reader.length >= 4 && text.includes(reader.toLowerCase()))
  );
};
