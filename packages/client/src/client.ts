import createClient from 'openapi-fetch';
import type { paths } from './interface.ts';

/** A typed client of the service at this address. It stays signed in like a browser; outside browsers it stores the cookies itself. */
export function openClient(baseUrl: string) {
  const client = createClient<paths>({ baseUrl, credentials: 'include' });
  const cookies = new Map<string, string>();
  client.use({
    onRequest({ request }) {
      if (cookies.size > 0) request.headers.set('cookie', [...cookies.values()].join('; '));
    },
    onResponse({ response }) {
      // Empty in a browser, which hides these headers from scripts and handles the cookies itself.
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const [name = '', value] = pair.split('=');
        if (value) cookies.set(name, pair);
        else cookies.delete(name);
      }
    },
  });
  return client;
}
