import { describe, expect, it } from 'vitest';
import { cleanSvg } from './clean-svg.ts';

const start = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 8 8">';
const clean = (content: string): string | null => cleanSvg(Buffer.from(`${start}${content}</svg>`));
/** The remaining content of a cleaned SVG. */
const left = (content: string): string =>
  (clean(content) ?? 'REFUSED')
    .replace(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 8 8"(?:\/>|>)/, '')
    .replace(/<\/svg>$/, '');

describe('cleaning keeps what draws', () => {
  it.each([
    '<path d="M0 0h8v8z" fill="#0f172a" fill-opacity=".5" transform="rotate(45 4 4) scale(1.5,2)"/>',
    '<g id="a-1" class="x y" opacity="50%"><circle cx="4" cy="4" r="3"/><ellipse rx="1" ry="2"/></g>',
    '<rect x="1" y="1" width="6" height="6" rx="1" stroke="rgb(1, 2, 3)" stroke-dasharray="1,2 3"/>',
    '<polygon points="0,0 8,0 8,8"/><polyline points="0,0 8,0"/><line x1="0" y1="0" x2="8" y2="8"/>',
    '<defs><linearGradient id="g" gradientUnits="userSpaceOnUse" gradientTransform="matrix(1 0 0 1 0 0)"><stop offset="0" stop-color="red"/></linearGradient></defs><path fill="url(#g)"/>',
    '<linearGradient id="h" href="#g"/><radialGradient id="i" fx="1"/>',
    '<clipPath id="c"><rect width="8"/></clipPath><g clip-path="url(#c)"/><mask id="m"/><g mask="url(#m)"/>',
    '<symbol id="s" viewBox="0 0 1 1"><path d="M0 0"/></symbol><use href="#s" x="1"/>',
    '<filter id="f"><feGaussianBlur stdDeviation="2"/><feColorMatrix type="matrix" values="1 0 0 0 0"/></filter>',
    '<text x="1" font-family="Arial, &quot;Open Sans&quot;" text-anchor="middle">Ä &amp; &lt;b&gt; 😀<tspan dx="1">x</tspan></text>',
    '<title>An icon</title><desc>of a house</desc>',
    '<path style="fill:#fff;stroke:url(#g);stroke-width:2px"/>',
    '<style>.a{fill:#fff;stroke:none}.b,#c &gt; path{opacity:.5}</style><path class="a"/>',
    '<image href="data:image/png;base64,iVBORw0KGgo=" width="8"/>',
    '<switch><g/></switch>',
  ])('%s', (content) => {
    expect(left(content)).toBe(content);
  });

  it('in the notation of older programs', () => {
    expect(left('<use xlink:href="#s"/>')).toBe('<use href="#s"/>');
    expect(left('<use href="#s" xlink:href="#s"/>')).toBe('<use href="#s"/>');
    expect(left('<use href="https://evil.test/#s" xlink:href="#s"/>')).toBe('<use href="#s"/>');
    expect(left('<svg:path d="M0"/>')).toBe('<path d="M0"/>');
    expect(left('<style type="text/css"><![CDATA[ .a { fill : red ; } ]]></style>')).toBe(
      '<style type="text/css">.a{fill:red}</style>',
    );
    expect(left("<path d='M0' fill='&#x72;e&#100;'/>")).toBe('<path d="M0" fill="red"/>');
    expect(
      cleanSvg(
        Buffer.from(
          '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- Generator -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="8px" xml:space="preserve"><path d="M0"/></svg>\n',
        ),
      ),
    ).toBe('<svg xmlns="http://www.w3.org/2000/svg" width="8px"><path d="M0"/></svg>');
  });
});

describe('cleaning drops everything else', () => {
  it.each<[string, string]>([
    ['<script>alert(1)</script>', ''],
    ['<script href="https://evil.test/a.js"/>', ''],
    ['<SCRIPT>alert(1)</SCRIPT>', ''],
    ['<svg:script>alert(1)</svg:script>', ''],
    ['<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>', ''],
    ['<g><script>alert(1)</script><path/></g>', '<g><path/></g>'],
    ['<scr<script/>ipt>alert(1)</script>', 'ipt&gt;alert(1)'],
    ['<foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="alert(1)"/></foreignObject>', ''],
    ['<g xmlns="http://www.w3.org/1999/xhtml"><iframe src="https://evil.test"/></g>', '<g/>'],
    ['<iframe src="https://evil.test"/><embed/><object/><audio/><video/><canvas/>', ''],
    ['<a href="javascript:alert(1)"><path/></a>', ''],
    ['<animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onload" to="alert(1)"/>', ''],
    ['<animateTransform/><animateMotion/><discard/><handler/><listener/><feImage href="https://evil.test"/>', ''],
    ['<path onload="alert(1)" onclick="alert(1)" ONMOUSEOVER="alert(1)"/>', '<path/>'],
    ['<path on&#108;oad="x" ev:event="x"/>', '<path/>'],
    ['<use href="https://evil.test/a.svg#b"/>', '<use/>'],
    ['<use xlink:href="data:image/svg+xml;base64,AAAA#b"/>', '<use/>'],
    ['<use href="java&#10;script:alert(1)"/>', '<use/>'],
    ['<use href="#s)%20url(https://evil.test"/>', '<use/>'],
    ['<image href="https://evil.test/a.png"/>', '<image/>'],
    ['<image xlink:href="//evil.test/a.png" src="//evil.test"/>', '<image/>'],
    ['<image href="data:image/svg+xml;base64,AAAA"/>', '<image/>'],
    ['<image href="data:text/html;base64,AAAA"/>', '<image/>'],
    ['<linearGradient href="https://evil.test/a.svg#g"/>', '<linearGradient/>'],
    ['<path fill="url(https://evil.test/a.svg#g)"/>', '<path/>'],
    ['<path fill="url( &quot;//evil.test&quot; )"/>', '<path/>'],
    ['<path fill="URL(#a) url(https://evil.test)"/>', '<path/>'],
    ['<path filter="url(#a) url(https://evil.test)"/>', '<path/>'],
    ['<path fill="u\\72l(https://evil.test)"/>', '<path/>'],
    ['<path fill="image-set(&quot;https://evil.test&quot; 1x)"/>', '<path/>'],
    ['<path fill="src(&quot;https://evil.test&quot;)"/>', '<path/>'],
    ['<path fill="var(--a)"/>', '<path/>'],
    [
      '<path style="fill:red;background:url(https://evil.test);behavior:url(#x);-moz-binding:url(#x)"/>',
      '<path style="fill:red"/>',
    ],
    ['<path style="fill:url(https://evil.test)"/>', '<path style=""/>'],
    ['<path style="fill:u/**/rl(https://evil.test)"/>', '<path style=""/>'],
    ['<path style="cursor:url(https://evil.test),auto"/>', '<path style=""/>'],
    ['<style>@import "https://evil.test";.a{fill:red}</style>', '<style/>'],
    ['<style>@import url(https://evil.test);</style>', '<style/>'],
    ['<style>@font-face{font-family:x;src:url(https://evil.test)}</style>', '<style/>'],
    ['<style>.a{fill:url(https://evil.test)}.b{fill:red}</style>', '<style>.a{}.b{fill:red}</style>'],
    ['<style>.a{fill:red}/*</style><script>alert(1)</script><style>*/</style>', '<style>.a{fill:red}</style><style/>'],
    ['<style>.a{fill:"}*{background:url(https://evil.test)}"}</style>', '<style>.a{}*{}</style>'],
    ['<style><script>alert(1)</script></style>', '<style/>'],
    ['<title><script>alert(1)</script></title>', '<title/>'],
    ['<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>', '<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>'],
    [
      '<text><![CDATA[</text><script>alert(1)</script>]]></text>',
      '<text>&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text>',
    ],
    ['<path id="a&quot; onload=&quot;alert(1)"/>', '<path/>'],
    ['<path d="M0&quot;/&gt;&lt;script&gt;"/>', '<path/>'],
    ['<!--><script>alert(1)</script>-->', ''],
    ['<!-- --!><script>alert(1)</script> -->', ''],
    ['<?xml-stylesheet href="https://evil.test/a.css"?><path/>', '<path/>'],
    ['<path xml:base="https://evil.test/" data-x="1" aria-label="x" tabindex="1" target="_top"/>', '<path/>'],
    ['<metadata><rdf:RDF/></metadata><sodipodi:namedview/>', ''],
  ])('%s', (content, expected) => {
    expect(left(content)).toBe(expected);
  });

  it('resolves no declared entities', () => {
    const declared = (entity: string, content: string) =>
      cleanSvg(
        Buffer.from(
          `<!DOCTYPE svg [<!ENTITY ${entity}>]><svg xmlns="http://www.w3.org/2000/svg"><text>${content}</text></svg>`,
        ),
      );
    expect(declared('x SYSTEM "file:///etc/passwd"', '[&x;]')).toBeNull();
    expect(declared('x "&lt;script>alert(1)&lt;/script>"', '[&x;]')).toBe(
      '<svg xmlns="http://www.w3.org/2000/svg"><text>[]</text></svg>',
    );
    const laughs = Array.from(
      { length: 10 },
      (_, index) => `l${index + 1} "${`&l${index};`.repeat(10)}"><!ENTITY `,
    ).join('');
    expect(declared(`l0 "ha"><!ENTITY ${laughs} end ""`, '[&l10;]')).toSatisfy(
      (text) => text === null || !String(text).includes('ha'),
    );
  });
});

describe('cleaning refuses', () => {
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['text', 'svg'],
    ['a web page', '<html><svg xmlns="http://www.w3.org/2000/svg"/></html>'],
    ['a second root', `${start}</svg><svg/>`],
    ['what breaks off', '<svg xmlns="http://www.w3.org/2000/svg'],
    ['what is no UTF-8', Buffer.from([0x3c, 0x73, 0x76, 0x67, 0xff, 0x2f, 0x3e])],
    ['UTF-16', Buffer.from('\ufeff<svg/>', 'utf16le')],
    ['more than 10,000 elements', `${start}${'<g/>'.repeat(10_001)}</svg>`],
    ['what is nested without end', `${start}${'<g>'.repeat(5_000)}`],
    ['a tag named like a trap', `${start}<__proto__/></svg>`],
    ['a use of itself', `${start}<g id="a"><use href="#a"/></g></svg>`],
    [
      'a drawing of drawings of drawings',
      `${start}${Array.from({ length: 12 }, (_, index) => `<g id="l${index + 1}">${`<use href="#l${index}"/>`.repeat(10)}</g>`).join('')}</svg>`,
    ],
    [
      'a pattern of patterns of patterns',
      `${start}${Array.from({ length: 12 }, (_, index) => `<pattern id="l${index + 1}">${`<path fill="url(#l${index})"/>`.repeat(10)}</pattern>`).join('')}</svg>`,
    ],
  ])('%s', (_name, file) => {
    expect(cleanSvg(Buffer.from(file))).toBeNull();
  });
});

it('is idempotent', () => {
  for (const content of [
    '<text>a &amp;amp; b &#38;lt; c</text>',
    '<style>a{fill:red}<![CDATA[b{}]]></style><path style="fill:red;;;opacity:1" fill="url(\'#a\')"/>',
    '<g id="&#x22;"><text>\u0001 \ufffe &#0; &#xd800; &#x110000;</text></g>',
  ]) {
    const once = clean(content);
    expect(once).not.toBeNull();
    expect(cleanSvg(Buffer.from(once ?? ''))).toBe(once);
  }
});

it.each([
  '<',
  '<g>',
  '<g ',
  '<g a="',
  '<!--',
  '<![CDATA[',
  '&',
  '&#',
  '<g/>',
  'a="1" ',
  '{',
  '/*',
  '<style>',
  '<!DOCTYPE ',
  '<?',
  ']]>',
  'url(',
])('half a megabyte of %s ends', (piece) => {
  const filled = piece.repeat(Math.floor(500_000 / piece.length));
  for (const content of [filled, `<style>${filled}</style>`, `<path style="${filled}"/>`, `<path fill="${filled}"/>`])
    clean(content);
});
