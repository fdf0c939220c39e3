import { z } from 'zod';
import { WebAddress } from '../web-address.ts';

const withoutScheme = /^(?:localhost|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z0-9-]*[a-z0-9])(?::\d{1,5})?(?:\/|$)/i;

/** The address of a cloud as a user types it, with `https://` added if it has no scheme. */
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

/** Page names of every cloud. In an address copied from a browser, the path from here on does not name an installation folder. */
const pageNames: ReadonlySet<string> = new Set(['index.php', 'login', 'apps', 'status.php']);

/** The URL of the status document of a cloud. Keeps the folder the cloud is installed in. */
export function statusDocumentOf(address: string): URL {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  // The address already names the status document.
  if (url.pathname.endsWith('/status.php')) return url;
  const folders = url.pathname.split('/').filter((folder) => folder !== '');
  const end = folders.findIndex((folder) => pageNames.has(folder.toLowerCase()));
  url.pathname = `/${[...(end === -1 ? folders : folders.slice(0, end)), 'status.php'].join('/')}`;
  return url;
}

/**
 * Whether to follow a redirect on the way to a status document: on the same host, not from https to http, and not to a sign-in page.
 * Any other redirect leaves this cloud.
 */
export function isSameCloud(to: URL, from: URL): boolean {
  const staysEncrypted = to.protocol === 'https:' || from.protocol === 'http:';
  const isSignIn = to.pathname.toLowerCase().split('/').includes('login');
  return to.hostname === from.hostname && staysEncrypted && !isSignIn;
}
