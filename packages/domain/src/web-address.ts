import { line } from './text.ts';

/** Longest address taken, as browsers and proxies do. */
export const maxAddressLength = 2_048;

/** An address of a page that is shown inside ours: https, a host, and neither a username nor a password in it. Kept as it was typed. */
export const HttpsAddress = addressOf(/^https:\/\/[^/\\\s]/i, 'must be an https address').meta({
  format: 'uri',
  example: 'https://wiki.example.org/start',
});

/** The same of a page that is opened or read, plain http too. */
export const WebAddress = addressOf(/^https?:\/\/[^/\\\s]/i, 'must be an http or https address').meta({
  format: 'uri',
  example: 'https://wiki.example.org/start',
});

// Browsers forgive much in front of the host (`https:host`, backslashes), and read credentials out of it: nothing of that is taken.
function addressOf(start: RegExp, message: string) {
  return line(maxAddressLength)
    .refine((value) => start.test(value) && !/[\\\s]/.test(value) && URL.canParse(value), message)
    .refine((value) => !hasCredentials(value), 'must not contain a username or password');
}

function hasCredentials(value: string): boolean {
  const [authority = ''] = value.slice(value.indexOf('//') + 2).split(/[/?#]/, 1);
  return authority.includes('@');
}
