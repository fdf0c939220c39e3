import { line } from './text.ts';

/** Longest address taken, as browsers and proxies do. */
const maxLength = 2_048;

/** An address of a page that is shown inside ours: https, a host, and neither a username nor a password in it. Kept as it was typed. */
export const HttpsAddress = line(maxLength)
  .refine(isHttps, 'must be an https address')
  .refine((value) => !hasCredentials(value), 'must not contain a username or password')
  .meta({ format: 'uri', example: 'https://wiki.example.org/start' });

// Browsers forgive much in front of the host (`https:host`, backslashes), and read credentials out of it: nothing of that is taken.
function isHttps(value: string): boolean {
  return /^https:\/\/[^/\\\s]/i.test(value) && !/[\\\s]/.test(value) && URL.canParse(value);
}

function hasCredentials(value: string): boolean {
  const [authority = ''] = value.slice('https://'.length).split(/[/?#]/, 1);
  return authority.includes('@');
}
