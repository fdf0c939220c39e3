import createClient from 'openapi-fetch';
import type { paths } from './interface.ts';

/** Calls the service at this address, typed by its own description. It stays signed in as a browser does, and keeps the cookie itself where there is none. */
export function openClient(baseUrl: string) {
  const client = createClient<paths>({ baseUrl, credentials: 'include' });
  const cookies = new Map<string, string>();
  client.use({
    onRequest({ request }) {
      if (cookies.size > 0) request.headers.set('cookie', [...cookies.values()].join('; '));
    },
    onResponse({ response }) {
      // A browser shows none of these to scripts and minds them itself.
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
