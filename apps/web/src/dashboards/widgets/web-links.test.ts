import { describe, expect, it } from 'vitest';
import { hostOf } from './addresses.ts';
import { partsOf, safeHref } from './web-links.ts';

describe('safeHref', () => {
  it('passes http and https', () => {
    expect(safeHref('https://wiki.example.org/start')).toBe('https://wiki.example.org/start');
    expect(safeHref('http://intranet')).toBe('http://intranet/');
  });

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '/path',
    '',
    null,
    undefined,
  ])('refuses %j', (address) => {
    expect(safeHref(address)).toBeUndefined();
  });
});

it('names the host of an address', () => {
  expect(hostOf('https://www.example.org:8443/a')).toBe('example.org');
  expect(hostOf('no address')).toBe('no address');
});

describe('partsOf', () => {
  const links = (text: string) => partsOf(text).flatMap(({ text, href }) => (href === undefined ? [] : [text]));

  it('keeps the whole text', () => {
    const text = 'Siehe https://a.example/x, dann (https://b.example/y).\nEnde';
    expect(
      partsOf(text)
        .map((part) => part.text)
        .join(''),
    ).toBe(text);
    expect(links(text)).toEqual(['https://a.example/x', 'https://b.example/y']);
  });

  it('keeps brackets that belong to the address', () => {
    expect(links('https://a.example/Bern_(Stadt) und [https://b.example/[1]]')).toEqual([
      'https://a.example/Bern_(Stadt)',
      'https://b.example/[1]',
    ]);
  });

  it('links nothing else', () => {
    expect(links('javascript:alert(1) ftp://a.example mailto:x@y.example www.example.org xhttps://c.example')).toEqual(
      [],
    );
  });

  it('leaves quotation marks outside', () => {
    expect(links('„https://a.example/x“ "https://b.example"')).toEqual(['https://a.example/x', 'https://b.example']);
  });

  it('takes an empty text', () => {
    expect(partsOf('')).toEqual([]);
  });
});
