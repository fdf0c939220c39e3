import { deadlinesIn, labelledValue, placeIn } from './labelled-text.ts';
import { emptyDraft, identity, type NoticeDraft } from './notice-draft.ts';
import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';
import { type PortalLink, portalLinkIn } from './portal-links.ts';

/** A part of a mail: a table row, a list item, a paragraph, or a container of several of them. */
export interface MailBlock {
  start: number;
  end: number;
  parent: number | null;
  /** The first bold text in the block, without nested blocks. */
  bold: string | null;
}

export interface MailLink {
  href: string;
  /** The visible text of the link. */
  text: string;
  block: number;
}

/** The visible text of a mail, with tabs between the cells of a row, and its links and blocks. */
export interface AlertMail {
  text: string;
  blocks: MailBlock[];
  links: MailLink[];
  /** Names and addresses of the recipients. */
  recipients: string[];
}

const maxNotices = 200;
/** Characters of a block that are read. In a mail about a single notice, the block can be the whole mail. */
const maxRecord = 4_000;

/**
 * The notices that an alert mail of a tender portal links to, one draft each. Takes only title, buyer, place and deadline from the text,
 * and only the part of a link that identifies the notice: everything else can contain personal data of the recipient.
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

/** The key of the only notice in each block; null if a block has several. */
function blockOwners(
  { blocks }: AlertMail,
  found: ReadonlyMap<string, { at: MailLink[] }>,
): Map<number, string | null> {
  const owners = new Map<number, string | null>();
  for (const [key, { at }] of found) {
    for (const link of at) {
      for (let block: number | null = link.block; block !== null; block = blocks[block]?.parent ?? null) {
        const owner = owners.get(block);
        // The outer blocks have been set already.
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
  const isUsableTitle = (line: string): boolean => isTitle(line) && !hasPersonalData(line, mail.recipients);
  const unlessPersonal = (text: string | null): string | null =>
    text !== null && !hasPersonalData(text, mail.recipients) ? text : null;
  const linkTitles = at.map(({ text }) => cleanLine(text)).filter(isUsableTitle);
  const nearest = around[0] ? linesOf(mail.text.slice(around[0].start, around[0].end)) : '';
  const place = unlessPersonal(labelledValue(record, 'Erfüllungsort|Ausführungsort|Leistungsort|Ort der Leistung|Ort'));
  const title =
    linkTitles.toSorted((a, b) => b.length - a.length)[0] ??
    unlessPersonal(labelledValue(record, titleLabels)) ??
    around.map(({ bold }) => cleanLine(bold ?? '')).find(isUsableTitle) ??
    nearest.split('\n').map(cleanLine).find(isUsableTitle) ??
    `Bekanntmachung ${link.key.slice(link.key.indexOf(':') + 1)}`;
  return {
    ...emptyDraft,
    sourcePortal,
    ...identity(link.key),
    sourceUrl: link.url,
    publicationNumber: publicationNumberIn(link.url),
    noticeUuid: noticeUuidIn(link.url),
    bundId: bundIdIn(link.url),
    title,
    buyerName: unlessPersonal(labelledValue(record, buyerLabels)),
    places: place === null ? [] : [placeIn(place)],
    // The date when it is first seen counts: portals send reminders of the same notice.
    publishedAt: null,
    deadlines: deadlinesIn(record),
    links: [link.url],
  };
}

/** The blocks around the first link that contain only this notice, from the innermost outwards. */
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

/** Puts each labelled value on its own line, with a colon after the label. */
const linesOf = (text: string): string => text.replaceAll(labelInLine, '\n').replaceAll(labelInCell, '$1: ');

/** The text of a list item without its bullet or number. */
const cleanLine = (line: string): string =>
  line
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^(?:\d{1,3}[.)]|[-–•*])\s+/u, '');

/** Lines that cannot be a title: link texts, greetings, customer data and labels. */
const noTitle = [
  /^(?:https?:|www\.)/i,
  /^(?:(?:mehr|weitere|alle|zu den|zur|zum|hier|jetzt|bitte|link|details?|anzeigen|ansehen|öffnen|klicken|informationen|infos|bekanntmachung|ausschreibung|vergabeunterlagen|unterlagen|verfahren|detailansicht|projekt(?:raum)?|aufrufen|lesen|erfahren|neue|die|der|das|sie|im|portal|und|für)[\s.,:!…›»>→-]*)+$/iu,
  /^(?:sehr geehrte|guten (?:tag|morgen|abend)|hallo|liebe[rs]?|moin|mit freundlichen|viele grüße|ihr(?:e)? )/iu,
  /kunden-?(?:nr|nummer|kennung)|kd\.?-?nr|benutzer(?:name|kennung)|mitglieds-?(?:nr|nummer)|suchprofil|suchauftrag/iu,
  new RegExp(`^(?:${knownLabels})[^\\S\\n]*[:\\t]`, 'iu'),
];
const isTitle = (line: string): boolean =>
  line.length >= 8 && /\p{L}{3}/u.test(line) && !noTitle.some((pattern) => pattern.test(line));

/** Whether a line names a recipient of the mail, a mail address or a customer number. */
const hasPersonalData = (line: string, recipients: readonly string[]): boolean => {
  const text = line.toLowerCase();
  return (
    /[^\s@]@[^\s@]+\.\w/.test(line) ||
    /kunden-?(?:nr|nummer|kennung)/i.test(line) ||
    recipients.some((recipient) => recipient.length >= 4 && text.includes(recipient.toLowerCase()))
  );
};
