import { bundIdIn, noticeUuidIn, publicationNumberIn } from './portal-ids.ts';

/** A link that leads to a notice: its id at its portal, and the address with nothing in it but what names the notice. */
export interface PortalLink {
  /** `cosinex:CXP4Y6Z`, in the spelling of `portalIdsIn` where that knows the portal. */
  key: string;
  url: string;
}

/** The id of the notice and the way to it, if the address is one of the portal's. */
type Portal = (url: URL) => PortalLink | null;

/** The value of a parameter, however its name is written. */
const parameter = (url: URL, name: string): string | null =>
  url.searchParams.entries().find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null;

/** The path up to the id, and not what comes behind it: that may name the reader. */
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

/** One of the services whose ids are exact, under one address of theirs. */
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
 * The portals whose links are known. Two products run under the names of hundreds of authorities, so their links are told by the way
 * they are made, on any host that has a name; all others by their host as well.
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

/** NetServer takes what it is to do from a parameter. */
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

/** Addresses that are looked at for one link, it and what it carries within. */
const maxAddresses = 24;
const maxAddress = 8_000;

/**
 * The notice a link of a mail leads to; null for any other link. Where it goes by way of somebody who counts clicks, the address is read
 * out of the link itself: nothing here is ever followed.
 */
export function portalLinkIn(href: string): PortalLink | null {
  const open = [href];
  for (const text of open) {
    const url = text.length > maxAddress ? null : URL.parse(text.trim());
    if (!url || !isOfTheWeb(url)) continue;
    const link = recognised(url);
    if (link) return link;
    for (const inner of carriedBy(url)) if (open.length < maxAddresses) open.push(inner);
  }
  return null;
}

/** On a host that has a name, at the usual port, with nobody's name and password in it. */
const isOfTheWeb = ({ protocol, hostname, port, username, password }: URL): boolean =>
  /^https?:$/.test(protocol) &&
  port === '' &&
  username === '' &&
  password === '' &&
  /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+$/i.test(hostname);

/** Addresses within an address: values of its parameters, plain, escaped twice or in base64, and one that ends its path. */
function carriedBy(url: URL): string[] {
  const values = [...url.searchParams.values()];
  const path = unescaped(`${url.pathname}${url.search}`);
  const at = path.slice(1).search(/https?:\/\//i) + 1;
  return [...values.flatMap((value) => addressIn(value, url)), ...(at > 0 ? [path.slice(at)] : [])];
}

function addressIn(value: string, { origin, hostname }: URL): string[] {
  const text = value.trim();
  if (/^https?:\/\//i.test(text)) return [text];
  // Proofpoint's own spelling: `-3A` for `:`, `_` for `/`.
  if (/^https?-3A__/i.test(text) && /(?:^|\.)proofpoint\.com$/.test(hostname))
    return [unescaped(text.replaceAll('_', '/').replaceAll(/-([0-9A-F]{2})/g, '%$1'))];
  if (/^https?%3a/i.test(text)) return [unescaped(text)];
  // A page to go on to after a sign-in.
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
