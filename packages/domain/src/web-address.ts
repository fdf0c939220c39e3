import { line } from './text.ts';

/** Longest accepted address, a common limit of browsers and proxies. */
export const maxAddressLength = 2_048;

/** The address of a page embedded in ours: https, a host, no username and no password. Stored as typed. */
export const HttpsAddress = addressOf(/^https:\/\/[^/\\\s]/i, 'must be an https address').meta({
  format: 'uri',
  example: 'https://wiki.example.org/start',
});

/** The address of a page that users open or the portal reads: like `HttpsAddress`, but http too. */
export const WebAddress = addressOf(/^https?:\/\/[^/\\\s]/i, 'must be an http or https address').meta({
  format: 'uri',
  example: 'https://wiki.example.org/start',
});

// Browsers tolerate `https:host` and backslashes, and take credentials from the address; this schema refuses all of these.
function addressOf(start: RegExp, message: string) {
  return line(maxAddressLength)
    .refine((value) => start.test(value) && !/[\\\s]/.test(value) && URL.canParse(value), message)
    .refine((value) => !hasCredentials(value), 'must not contain a username or password');
}

function hasCredentials(value: string): boolean {
  const [authority = ''] = value.slice(value.indexOf('//') + 2).split(/[/?#]/, 1);
  return authority.includes('@');
}
