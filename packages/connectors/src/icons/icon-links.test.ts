import { describe, expect, it } from 'vitest';
import { type PageIcons, readIconLinks } from './icon-links.ts';

const page = new URL('https://example.org/a/page.html');
const read = (html: string): PageIcons => readIconLinks(html, page);
const urls = (html: string): string[] => read(html).icons.map(({ url }) => url.href);

describe('the icons of a page', () => {
  it.each<[string, string, number | 'any' | null, boolean]>([
    ['<link rel="icon" href="i.png">', 'https://example.org/a/i.png', null, false],
    ['<LINK REL=ICON HREF=/i.png>', 'https://example.org/i.png', null, false],
    ["<link href='//cdn.example/i.png' rel='shortcut icon' />", 'https://cdn.example/i.png', null, false],
    ['<link rel="icon" sizes="16x16 48x48" href="i.ico">', 'https://example.org/a/i.ico', 48, false],
    ['<link rel="icon" sizes="64X32" href="i.png">', 'https://example.org/a/i.png', 64, false],
    ['<link rel="icon" sizes="any" href="i.ico">', 'https://example.org/a/i.ico', 'any', false],
    ['<link rel="icon" type="image/svg+xml" href="i">', 'https://example.org/a/i', 'any', false],
    ['<link rel="icon" href="i.svg?v=2">', 'https://example.org/a/i.svg?v=2', 'any', false],
    ['<link rel="apple-touch-icon" href="i.png">', 'https://example.org/a/i.png', 180, false],
    ['<link rel="apple-touch-icon-precomposed" sizes="57x57" href="i.png">', 'https://example.org/a/i.png', 57, false],
    ['<link rel="mask-icon" href="i.svg" color="#fff">', 'https://example.org/a/i.svg', 'any', true],
    ['<link rel="fluid-icon" href="i.png">', 'https://example.org/a/i.png', null, false],
    [
      '<link\n\trel = "icon"\n\thref = "i.png?a=1&amp;b=&#50;&#x33;">',
      'https://example.org/a/i.png?a=1&b=23',
      null,
      false,
    ],
    ['<link rel=icon href=" data:image/png;base64,AAAA ">', 'data:image/png;base64,AAAA', null, false],
    ['<link rel="icon" title="a > b" href="i.png">', 'https://example.org/a/i.png', null, false],
    ['<link rel="icon" href="i.png" href="second.png">', 'https://example.org/a/i.png', null, false],
    ['<p title="<link>"><link rel=icon href=i.png', '', null, false],
  ])('%s', (html, url, size, isMask) => {
    expect(read(html).icons).toEqual(url === '' ? [] : [{ url: new URL(url), size, isMask }]);
  });

  it.each([
    '<!-- <link rel=icon href=a.png> -->',
    '<script>"<link rel=icon href=a.png>"</script>',
    '<style><link rel=icon href=a.png></style>',
    '<title><link rel=icon href=a.png></title>',
    '<noscript><link rel=icon href=a.png></noscript>',
    '<body><link rel=icon href=a.png>',
    '<link rel=stylesheet href=a.css>',
    '<link rel=icon>',
    '<link rel=icon href="javascript:alert(1)">',
    '<link rel=icon href="file:///etc/passwd">',
    '<link rel=icon href="http://[">',
    '<linkrel=icon href=a.png>',
    '<link rel=icon href="a.png',
    '<script><link rel=icon href=a.png>',
    '<!-- <link rel=icon href=a.png>',
    'link rel=icon href=a.png',
    '',
  ])('none in %s', (html) => {
    expect(read(html).icons).toEqual([]);
  });

  it('are relative to the first base', () => {
    expect(urls('<base href="/b/"><base href="/c/"><link rel=icon href=i.png>')).toEqual([
      'https://example.org/b/i.png',
    ]);
  });

  it('come with the first manifest', () => {
    expect(read('<link rel="manifest" href="/m.json"><link rel=manifest href=/n.json>').manifest?.href).toBe(
      'https://example.org/m.json',
    );
    expect(read('<link rel="manifest" href="http://[">').manifest).toBeNull();
  });

  it('are found after letters whose lower case is longer', () => {
    expect(urls(`<title>${'İ'.repeat(50)}</TITLE><link rel=icon href=i.png>`)).toEqual(['https://example.org/a/i.png']);
  });

  it('are a hundred at most', () => {
    expect(urls('<link rel=icon href=i.png>'.repeat(1_000))).toHaveLength(100);
  });

  it.each([
    '<',
    '<a',
    '<a ',
    '<a =',
    '<a b="',
    "<a b='",
    '<!--',
    '<script',
    '<link rel=icon href="',
    '</',
    '<a b = ',
    '"',
    '&',
    '<a/',
  ])('are read in time even if %s repeats', (piece) => {
    // With quadratic time, these would take minutes.
    expect(urls(piece.repeat(Math.ceil(262_144 / piece.length))).length).toBeLessThanOrEqual(100);
  });
});
