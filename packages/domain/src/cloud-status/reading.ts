import { classOfStatus, type FailureClass } from '../failure-class.ts';
import { sentences } from '../sentences.ts';
import { shownLine } from '../text.ts';

/** What a cloud says of its version. */
export interface CloudVersion {
  /** To be shown. */
  shown: string | null;
  /** Its three numbers where they can be compared with the releases of the product; null where they cannot. */
  release: string | null;
  /** With a paid subscription, support does not end when it does for everybody else. */
  hasExtendedSupport: boolean;
  productName: string | null;
}

export type CloudReading =
  | {
      isReached: true;
      isMaintenance: boolean;
      needsDbUpgrade: boolean;
      /** Null where the answer holds nothing about it; what is known stays. */
      version: CloudVersion | null;
      /** Worth knowing though nothing is wrong. */
      message: string | null;
    }
  | { isReached: false; failure: FailureClass; message: string };

export interface StatusAnswer {
  status: number;
  body: string;
  /** Where a redirect leads that was not gone after. */
  location: string | null;
  /** What was asked for, and where the answer came from. */
  asked: URL;
  url: URL;
}

/** What the answer to a request for the status document says (`status.php`, and what stands in front of one). */
export function readStatusAnswer({ status, body, location, asked, url }: StatusAnswer): CloudReading {
  const document = documentOf(body);
  const isMaintenance = flagOf(document?.['maintenance']) === true;
  // Proxies in front may show maintenance with the status the other pages have then; any other 503 is a fault.
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
  return { isReached: true, isMaintenance, needsDbUpgrade, version, message: null, ...noted() };

  function noted(): { message: string } | null {
    const notes = [
      isMaintenance && 'The cloud is in maintenance.',
      needsDbUpgrade && 'An update of this cloud was started but not finished.',
      version?.hasExtendedSupport === true && 'The cloud has extended support.',
      url.href !== asked.href && `The address redirects to ${shown(url.href, 300) ?? 'another address'}.`,
    ].filter((note) => note !== false);
    return notes.length === 0 ? null : { message: sentences(notes) };
  }
}

const failed = (failure: FailureClass, message: string): CloudReading => ({ isReached: false, failure, message });

/** Under this number a cloud says that it was not told to answer to the name it was called by. */
const untrustedDomain = 15;

function refusal(status: number, document: Document | null, location: string | null): string {
  if (status >= 300 && status < 400 && location !== null)
    return `The address redirects to another place: ${shown(location, 300) ?? 'nowhere'}.`;
  if (status === 400 && document?.['code'] === untrustedDomain)
    return 'The host in this address is missing in the cloud’s list of trusted domains.';
  if (status === 401) return 'The status document requires a sign-in (401).';
  if (status === 403) return 'The status document is refused (403).';
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

/** Yes and no come as booleans, numbers and text; null for anything else. */
function flagOf(value: unknown): boolean | null {
  if ([true, 1, '1', 'true'].includes(value as never)) return true;
  return [false, 0, '0', 'false'].includes(value as never) ? false : null;
}

/** A version that is longer is none. */
const maxVersionLength = 100;

function versionOf(document: Document): CloudVersion | null {
  const [version, versionText] = [document['version'], document['versionstring']];
  if (typeof version !== 'string' && typeof versionText !== 'string') return null;
  const numbers = numbersOf(version) ?? numbersOf(versionText);
  const ofRelative = shownVersion(document['productversion']);
  return {
    shown: ofRelative ?? shownVersion(versionText) ?? numbers,
    release: isRelative(document, numbers) || isPreRelease(versionText) ? null : numbers,
    hasExtendedSupport: flagOf(document['extendedSupport']) === true,
    productName: shown(document['productname'], 200) ?? shown(document['product'], 200),
  };
}

/** The first three of the numbers; the fourth counts builds. */
function numbersOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxVersionLength) return null;
  const [, ...numbers] = /^(\d{1,4})\.(\d{1,4})\.(\d{1,6})(?![\d])/.exec(value.trim()) ?? [];
  return numbers.length === 0 ? null : numbers.map(Number).join('.');
}

const isPreRelease = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= maxVersionLength &&
  /(?:alpha|beta|rc|dev|daily|nightly|preview|snapshot|git)/i.test(value.replace(/enterprise/i, ''));

/** The last major of the product it once was a copy of; both counted on from there. */
const lastSharedMajor = 11;

/** Whether it is a product that answers alike and counts its versions differently. */
const isRelative = (document: Document, numbers: string | null): boolean =>
  [document['product'], document['productversion'], document['edition']].some(
    (value) => typeof value === 'string' && value.trim() !== '',
  ) ||
  (numbers !== null && Number(numbers.split('.')[0]) <= lastSharedMajor);

const shownVersion = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= maxVersionLength ? shown(value, maxVersionLength) : null;

/** Text of a foreign server that may be stored and shown; null where there is none. */
const shown = (value: unknown, max: number): string | null =>
  typeof value === 'string' ? shownLine(value, max) || null : null;
