/**
 * Patterns of the procedure ids in links of known portals. Each path and query ends where the next link to the same portal starts:
 * otherwise the search from each of many links without an id would run to the end of the text.
 */
const patterns: [portal: string, pattern: RegExp][] = [
  ['cosinex', /\b(CX[A-Z0-9]{8,32})\b/g],
  ['netserver', /[?&]TenderOID=([\w%.-]{4,80})/gi],
  ['netserver', /[?&]TWOID=([\w%.-]{4,80})/gi],
  [
    'evergabe-online',
    /evergabe-online\.de\/tender(?:details|documents)\.html\?(?:(?:(?!evergabe-online\.de\/)[^\s"'])*&)?id=(\d{1,20})/gi,
  ],
  ['subreport', /subreport(?:-elvis)?\.de\/(?:(?:(?!subreport(?:-elvis)?\.de\/)[^\s"'])*\/)?(E\d{4,20})\b/gi],
  ['deutsche-evergabe', /\/dashboards\/dashboard_off\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi],
  ['rib', /\/PlatformId\/(\d{1,6}\/tenderId\/\d{1,20})/gi],
  ['staatsanzeiger', /BekLanding4Bund\?z_param=([\w-]{4,60})/gi],
  ['had', /[?&]SHOWPUB=([\w-]{2,40})/gi],
];

const maxIds = 20;

/** The portal ids in links and texts, prefixed with the portal: `subreport:E12345678`. */
export function portalIdsIn(texts: Iterable<string | null>): string[] {
  const ids = new Set<string>();
  for (const text of texts) {
    const found = (text ?? '').slice(0, 20_000).replaceAll('&amp;', '&');
    for (const [portal, pattern] of patterns) {
      for (const [, id = ''] of found.matchAll(pattern)) {
        if (ids.size < maxIds) ids.add(`${portal}:${id}`);
      }
    }
  }
  return [...ids];
}

/** Normalizes a publication number to `373130-2026`, without leading zeros; null for other text. */
export function publicationNumber(text: string | null): string | null {
  const [, number, year] = /^0{0,8}([1-9]\d{0,7})[-_](\d{4})$/.exec(text?.trim() ?? '') ?? [];
  return number === undefined ? null : `${number}-${year}`;
}

/** Path and query of a link to this host, empty for other hosts: their links can contain any address as a parameter. */
function pathAt(host: string, link: string): string {
  const url = URL.parse(link);
  const isAtHost = url !== null && (url.hostname === host || url.hostname.endsWith(`.${host}`));
  return isAtHost ? `${url.pathname}${url.search}` : '';
}

/** The TED publication number in a link. */
export const publicationNumberIn = (url: string): string | null =>
  publicationNumber(/^[^?]*?(\d{1,8}-\d{4})(?!\d)/.exec(pathAt('ted.europa.eu', url))?.[1] ?? null);

/** The number of the notice in a link to service.bund.de. */
export const bundIdIn = (url: string): string | null =>
  /^\/IMPORTE\/Ausschreibungen\/(?:[^?]*\/)?(\d{1,18})\.html/i.exec(pathAt('service.bund.de', url))?.[1] ?? null;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const uuidOf = (text: string | null): string | null => {
  const trimmed = text?.trim() ?? '';
  return uuid.test(trimmed) ? trimmed.toLowerCase() : null;
};

/** The id of the notice in a link to the national service. */
export const noticeUuidIn = (url: string): string | null =>
  uuidOf(/[?&]noticeId=([0-9a-f-]{36})/i.exec(pathAt('oeffentlichevergabe.de', url))?.[1] ?? null);
