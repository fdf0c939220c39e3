import { expect, it } from 'vitest';
import { isAllowedHost, parseAllowedHost } from './allowed-hosts.ts';

it.each([
  ['wiki.intern', { host: 'wiki.intern', port: null }],
  ['Wiki.Intern.:8080', { host: 'wiki.intern', port: 8080 }],
  ['bücher.example', { host: 'xn--bcher-kva.example', port: null }],
  ['127.0.0.1:443', { host: '127.0.0.1', port: 443 }],
  ['[::1]:80', { host: '[::1]', port: 80 }],
  ['[0:0:0:0:0:0:0:1]', { host: '[::1]', port: null }],
])('%s names a host', (entry, host) => {
  expect(parseAllowedHost(entry)).toEqual(host);
});

it.each([
  '',
  ' ',
  'http://wiki',
  'wiki:',
  'wiki:0',
  'wiki:65536',
  'wiki:80:80',
  '::1',
  'a/b',
  'user@wiki',
  '*.intern',
  'a b',
])('%j is not a host', (entry) => {
  expect(parseAllowedHost(entry)).toBeNull();
});

it.each([
  ['http://wiki.intern/', true],
  ['https://WIKI.intern.:8443/x', true],
  ['http://one.intern/', true],
  ['http://one.intern:81/', false],
  ['https://one.intern/', false],
  ['http://sub.wiki.intern/', false],
  ['http://wiki.intern.example.org/', false],
  ['http://127.1/', true],
  ['http://[::ffff:127.0.0.1]/', false],
])('%s: %s', (url, isAllowed) => {
  const allowed = ['wiki.intern', 'one.intern:80', '127.0.0.1']
    .map((entry) => parseAllowedHost(entry))
    .filter((one) => one !== null);
  expect(isAllowedHost(new URL(url), allowed)).toBe(isAllowed);
});
