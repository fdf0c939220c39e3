import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';

/** A link to a notice: the id at its portal, and the address reduced to the part that identifies the notice. */
export interface PortalLink {
  /** `cosinex:CXP4Y6Z`, in the format of `portalIdsIn` if that knows the portal. */
  key: string;
  url: string;
}

/** The notice of an address, if the address belongs to the portal. */
type Portal = (url: URL) => PortalLink | null;

/** The value of a query parameter; its name is not case-sensitive. */
const parameter = (url: URL, name: string): string | null =>
  url.searchParams.entries().find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null;

/** Takes the path up to the id; the rest can contain personal data of the recipient. */
const byPath =
  (name: string, hosts: RegExp | null, path: RegExp): Portal =>
  ({ origin, hostname, pathname }) => {
    const [way, id] = hosts === null || hosts.test(hostname) ? (path.exec(pathname) ?? []) : [];
    return way === undefined || id === undefined ? null : { key: `${name}:${id}`, url: `${origin}${way}` };
  };

const byParameter =
  (name: string, hosts: RegExp | null, path: RegExp, [wanted, shape]: [string, RegExp]): Portal =>
  (url) => {
    const { origin, hostname, pathname } = url;
    if ((hosts !== null && !hosts.test(hostname)) || !path.test(pathname)) return null;
    const id = parameter(url, wanted);
    return id === null || !shape.test(id)
      ? null
      : { key: `${name}:${id}`, url: `${origin}${pathname}?${wanted}=${encodeURIComponent(id)}` };
  };

/** An official service with exact ids, and its canonical address. */
const official =
  (name: string, idIn: (url: string) => string | null, addressOf: (id: string, url: URL) => string): Portal =>
  (url) => {
    const id = idIn(url.href);
    return id === null ? null : { key: `${name}:${id}`, url: addressOf(id, url) };
  };

const onHosts =
  (hosts: RegExp, portal: Portal): Portal =>
  (url) =>
    hosts.test(url.hostname) ? portal(url) : null;

const netserver = /^(?:\/[\w-]{1,40}){0,2}\/NetServer\/(?:TenderingProcedureDetails|PublicationControllerServlet)$/i;
const oid = /^[\w.-]{4,80}$/;

/**
 * The portals whose links are known. Two products run on the hosts of hundreds of authorities, so their links are recognized by their path
 * on any host name; all other links by their host, too.
 */
const portals: Portal[] = [
  onHosts(
    /^(?:www\.)?ted\.europa\.eu$/,
    official('ted', publicationNumberIn, (id) => `https://ted.europa.eu/de/notice/-/detail/${id}`),
  ),
  onHosts(
    /^(?:www\.)?oeffentlichevergabe\.de$/,
    official(
      'oeffentlichevergabe',
      noticeUuidIn,
      (id) => `https://oeffentlichevergabe.de/ui/de/search/details?noticeId=${id}`,
    ),
  ),
  onHosts(
    /^(?:www\.)?service\.bund\.de$/,
    official('bund', bundIdIn, (_id, { origin, pathname }) => `${origin}${pathname}`),
  ),
  byPath('cosinex', null, /^(?:\/[\w-]{1,40}){0,2}\/(?:VMP)?(?:Satellite|Center)\/notice\/(CX[A-Z0-9]{8,32})(?![\w-])/),
  (url) => withFunction(url, byParameter('netserver', null, netserver, ['TenderOID', oid])(url)),
  (url) => withFunction(url, byParameter('netserver', null, netserver, ['TWOID', oid])(url)),
  byParameter('evergabe-online', /^(?:www\.)?evergabe-online\.de$/, /^\/tender(?:details|documents)\.html$/i, [
    'id',
    /^\d{1,20}$/,
  ]),
  byPath('subreport', /^(?:[\w-]+\.)?subreport(?:-elvis)?\.de$/, /^(?:\/[\w-]{1,40}){0,2}\/(E\d{4,20})(?![\w-])/),
  byPath(
    'deutsche-evergabe',
    /^(?:[\w-]+\.)?deutsche-evergabe\.de$/,
    /^\/dashboards\/dashboard_off\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])/i,
  ),
  byPath(
    'rib',
    /^(?:www\.)?meinauftrag\.rib\.de$/,
    /^\/public\/DetailsByPlatformIdAndTenderId\/PlatformId\/(\d{1,6}\/tenderId\/\d{1,20})(?![\w-])/i,
  ),
  byParameter('staatsanzeiger', /^(?:[\w-]+\.)?staatsanzeiger(?:-eservices)?\.de$/, /\/BekLanding4Bund$/, [
    'z_param',
    /^[\w-]{4,60}$/,
  ]),
  byParameter('had', /^(?:[\w-]+\.)?had\.de$/, /^\/[\w-]{1,60}\.html$/, ['SHOWPUB', /^[\w-]{2,40}$/]),
];

/** NetServer selects the page by a parameter. */
function withFunction(url: URL, link: PortalLink | null): PortalLink | null {
  const action = /^\w{1,40}$/.exec(parameter(url, 'function') ?? '')?.[0];
  return link && action !== undefined ? { ...link, url: link.url.replace('?', `?function=${action}&`) } : link;
}

const recognised = (url: URL): PortalLink | null => {
  for (const portal of portals) {
    const link = portal(url);
    if (link) return link;
  }
  return null;
};

/** Addresses checked per link, including those inside it. */
const maxAddresses = 24;
const maxAddress = 8_000;

/**
 * The notice of a link in a mail; null for any other link. The target of a click tracker is read from the link itself: no link is ever
 * followed.
 */
export function portalLinkIn(href: string): PortalLink | null {
  const addresses = [href];
  for (const text of addresses) {
    const url = text.length > maxAddress ? null : URL.parse(text.trim());
    if (!url || !isPublicWebUrl(url)) continue;
    const link = recognised(url);
    if (link) return link;
    for (const inner of addressesInside(url)) if (addresses.length < maxAddresses) addresses.push(inner);
  }
  return null;
}

/** An http or https address with a host name, the default port and no credentials. */
const isPublicWebUrl = ({ protocol, hostname, port, username, password }: URL): boolean =>
  /^https?:$/.test(protocol) &&
  port === '' &&
  username === '' &&
  password === '' &&
  /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+$/i.test(hostname);

/** Addresses inside an address: parameter values (plain, escaped twice or in base64), and an address at the end of the path. */
function addressesInside(url: URL): string[] {
  const values = [...url.searchParams.values()];
  const path = unescaped(`${url.pathname}${url.search}`);
  const at = path.slice(1).search(/https?:\/\//i) + 1;
  return [...values.flatMap((value) => addressIn(value, url)), ...(at > 0 ? [path.slice(at)] : [])];
}

function addressIn(value: string, { origin, hostname }: URL): string[] {
  const text = value.trim();
  if (/^https?:\/\//i.test(text)) return [text];
  // The encoding of Proofpoint: `-3A` for `:`, `_` for `/`.
  if (/^https?-3A__/i.test(text) && /(?:^|\.)proofpoint\.com$/.test(hostname))
    return [unescaped(text.replaceAll('_', '/').replaceAll(/-([0-9A-F]{2})/g, '%$1'))];
  if (/^https?%3a/i.test(text)) return [unescaped(text)];
  // The page to open after a sign-in.
  if (/^\/(?!\/)/.test(text)) return [`${origin}${text}`];
  return /^aHR0c[\w+/=-]{8,}$/.test(text) ? [fromBase64(text)] : [];
}

function fromBase64(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
