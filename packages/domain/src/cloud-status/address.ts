import { z } from 'zod';
import { WebAddress } from '../web-address.ts';

const withoutScheme = /^(?:localhost|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z0-9-]*[a-z0-9])(?::\d{1,5})?(?:\/|$)/i;

/** Where a cloud answers, as a person types it: https unless http stands there. Kept as it was typed. */
export const StatusAddress = z
  .string()
  .trim()
  .overwrite((typed) => (withoutScheme.test(typed) ? `https://${typed}` : typed))
  .pipe(WebAddress)
  .meta({
    example: 'https://cloud.example.org',
    description:
      'The address of the cloud, of its sign-in page or of its status document; `https://` may be left out; `http://` must be written',
  });

/** Pages of a cloud's own: what stands from here on in an address that was copied from a browser leads to no other installation. */
const ownPages: ReadonlySet<string> = new Set(['index.php', 'login', 'apps', 'status.php']);

/** The status document of the cloud at an address; a folder the cloud is installed in stays. */
export function statusDocumentOf(address: string): URL {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  // Who names the document itself knows where it is.
  if (url.pathname.endsWith('/status.php')) return url;
  const folders = url.pathname.split('/').filter((folder) => folder !== '');
  const end = folders.findIndex((folder) => ownPages.has(folder.toLowerCase()));
  url.pathname = `/${[...(end === -1 ? folders : folders.slice(0, end)), 'status.php'].join('/')}`;
  return url;
}

/**
 * Whether a redirect on the way to a status document may be gone after: on the same host, not from https to http, and not to a
 * sign-in page. What lies behind any other one is not this cloud.
 */
export function isSameCloud(to: URL, from: URL): boolean {
  const staysEncrypted = to.protocol === 'https:' || from.protocol === 'http:';
  const isSignIn = to.pathname.toLowerCase().split('/').includes('login');
  return to.hostname === from.hostname && staysEncrypted && !isSignIn;
}
