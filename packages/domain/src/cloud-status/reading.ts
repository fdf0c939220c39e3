import { classOfStatus, type FailureClass } from '../failure-class.ts';
import { sentences } from '../sentences.ts';
import { shownLine } from '../text.ts';

/** The version a cloud reports. */
export interface CloudVersion {
  /** The text to show. */
  shown: string | null;
  /** The three version numbers; null if they cannot be compared with the releases of the product. */
  release: string | null;
  /** A paid subscription extends support beyond its public end. */
  hasExtendedSupport: boolean;
  productName: string | null;
}

export type CloudReading =
  | {
      isReached: true;
      isMaintenance: boolean;
      needsDbUpgrade: boolean;
      /** Null if the answer does not mention it; the known version then stays. */
      version: CloudVersion | null;
      /** Remarks that are not failures. */
      message: string | null;
    }
  | { isReached: false; failure: FailureClass; message: string };

export interface StatusAnswer {
  status: number;
  body: string;
  /** The target of a redirect that was not followed. */
  location: string | null;
  /** The requested URL, and the URL that answered. */
  asked: URL;
  url: URL;
}

/** Reads the answer to a request for the status document, `status.php`. A proxy in front of the cloud may have sent it. */
export function readStatusAnswer({ status, body, location, asked, url }: StatusAnswer): CloudReading {
  const document = documentOf(body);
  const isMaintenance = flagOf(document?.['maintenance']) === true;
  // During maintenance, a proxy may answer 503 for every page. Any other 503 is a failure.
  if (status !== 200 && !(status === 503 && isMaintenance))
    return failed(classOfStatus(status), refusal(status, document, location));
  if (!document)
    return failed('antwortform', 'The answer is not a status document but something else, such as a web page.');
  const isInstalled = flagOf(document['installed']);
  if (isInstalled === false) return failed('antwortform', 'The cloud says that it is not installed.');
  if (isInstalled === null && !isMaintenance)
    return failed('antwortform', 'The answer is JSON, but not the status of a cloud.');
  const needsDbUpgrade = flagOf(document['needsDbUpgrade']) === true;
  const version = versionOf(document);
  return { isReached: true, isMaintenance, needsDbUpgrade, version, message: null, ...remarks() };

  function remarks(): { message: string } | null {
    const found = [
      isMaintenance && 'The cloud is in maintenance.',
      needsDbUpgrade && 'An update of this cloud was started but not finished.',
      version?.hasExtendedSupport === true && 'The cloud has extended support.',
      url.href !== asked.href && `The address redirects to ${shown(url.href, 300) ?? 'another address'}.`,
    ].filter((remark) => remark !== false);
    return found.length === 0 ? null : { message: sentences(found) };
  }
}

const failed = (failure: FailureClass, message: string): CloudReading => ({ isReached: false, failure, message });

/** The error code of a cloud that does not trust the requested host name. */
const untrustedDomain = 15;

function refusal(status: number, document: Document | null, location: string | null): string {
  if (status >= 300 && status < 400 && location !== null)
    return `The address redirects to another place: ${shown(location, 300) ?? 'nowhere'}.`;
  if (status === 400 && document?.['code'] === untrustedDomain)
    return 'The host in this address is missing from the cloud’s list of trusted domains.';
  if (status === 401) return 'The status document requires a sign-in (401).';
  if (status === 403) return 'Access to the status document is denied (403).';
  if (status === 404)
    return 'There is no status document at this address (404). Is the folder the cloud is installed in missing?';
  if (status >= 500) return `The server of the cloud reported an error (${status}).`;
  return `The answer is not the one expected (${status}).`;
}

type Document = Readonly<Record<string, unknown>>;

function documentOf(body: string): Document | null {
  try {
    const value: unknown = JSON.parse(body.replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : null;
  } catch {
    return null;
  }
}

/** Clouds write yes and no as booleans, numbers or text. Null for anything else. */
function flagOf(value: unknown): boolean | null {
  if ([true, 1, '1', 'true'].includes(value as never)) return true;
  return [false, 0, '0', 'false'].includes(value as never) ? false : null;
}

/** A longer text is not a version. */
const maxVersionLength = 100;

function versionOf(document: Document): CloudVersion | null {
  const [version, versionText] = [document['version'], document['versionstring']];
  if (typeof version !== 'string' && typeof versionText !== 'string') return null;
  const numbers = numbersOf(version) ?? numbersOf(versionText);
  const productVersion = shownVersion(document['productversion']);
  return {
    shown: productVersion ?? shownVersion(versionText) ?? numbers,
    release: isRelatedProduct(document, numbers) || isPreRelease(versionText) ? null : numbers,
    hasExtendedSupport: flagOf(document['extendedSupport']) === true,
    productName: shown(document['productname'], 200) ?? shown(document['product'], 200),
  };
}

/** The first three numbers; the fourth is the build. */
function numbersOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxVersionLength) return null;
  const [, ...numbers] = /^(\d{1,4})\.(\d{1,4})\.(\d{1,6})(?![\d])/.exec(value.trim()) ?? [];
  return numbers.length === 0 ? null : numbers.map(Number).join('.');
}

const isPreRelease = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= maxVersionLength &&
  /(?:alpha|beta|rc|dev|daily|nightly|preview|snapshot|git)/i.test(value.replace(/enterprise/i, ''));

/** The last major version before the related product split off. Both products counted on from there. */
const lastSharedMajor = 11;

/** Whether this is a related product, which answers alike but numbers its versions differently. */
const isRelatedProduct = (document: Document, numbers: string | null): boolean =>
  [document['product'], document['productversion'], document['edition']].some(
    (value) => typeof value === 'string' && value.trim() !== '',
  ) ||
  (numbers !== null && Number(numbers.split('.')[0]) <= lastSharedMajor);

const shownVersion = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= maxVersionLength ? shown(value, maxVersionLength) : null;

/** Text of a foreign server in a form that can be stored and shown; null if there is none. */
const shown = (value: unknown, max: number): string | null =>
  typeof value === 'string' ? shownLine(value, max) || null : null;
