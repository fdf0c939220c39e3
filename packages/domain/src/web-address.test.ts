import { expect, it } from 'vitest';
import { HttpsAddress, WebAddress } from './web-address.ts';

it.each([
  'https://example.org',
  'https://wiki.example.org/start?page=1&q=a@b#top',
  'HTTPS://Example.org:8443/',
  'https://10.0.0.1/',
  'https://[2001:db8::1]/',
  'https://müller.example/straße',
])('accepts %s unchanged', (address) => {
  expect(HttpsAddress.parse(` ${address} `)).toBe(address);
  expect(WebAddress.parse(address)).toBe(address);
});

it.each([
  ['no scheme', 'example.org'],
  ['a script', 'javascript:alert(1)'],
  ['data', 'data:text/html,https://example.org'],
  ['a username', 'https://anna@example.org/'],
  ['a password', 'https://anna:secret@example.org/'],
  ['an empty username', 'https://@example.org/'],
  ['a username behind a backslash', 'https://example.org\\@evil.example/'],
  ['no slashes', 'https:example.org'],
  ['one slash', 'https:/example.org'],
  ['three slashes', 'https:///example.org'],
  ['no host', 'https://'],
  ['a port without a host', 'https://:443/'],
  ['an invalid port', 'https://example.org:99999/'],
  ['white space', 'https://example.org/a b'],
  ['a line break', 'https://example.org/\nx'],
  ['nothing', ''],
  ['too much', `https://example.org/${'x'.repeat(2_048)}`],
])('refuses %s', (_, address) => {
  expect(HttpsAddress.safeParse(address).success).toBe(false);
  expect(WebAddress.safeParse(address).success).toBe(false);
});

it('accepts plain http only for pages that are not embedded', () => {
  expect(WebAddress.parse('http://example.org/')).toBe('http://example.org/');
  expect(HttpsAddress.safeParse('http://example.org/').success).toBe(false);
  for (const address of ['http:example.org', 'http://anna@example.org/', 'ftp://example.org/']) {
    expect(WebAddress.safeParse(address).success).toBe(false);
  }
});
