import { describe, expect, it } from 'vitest';
import { decodeXml, readableXml } from './xml-text.ts';

describe('an XML as text', () => {
  it('has one element a line, indented by depth', () => {
    const xml = '<?xml version="1.0"?><a\n  x="1 > 0"><b>one</b>\n<c/><!-- <d> --><e><f>two &amp; <g/></f></e></a>';
    expect(readableXml(xml)).toEqual({
      isCut: false,
      text: [
        '<?xml version="1.0"?>',
        '<a x="1 > 0">',
        '  <b>one</b>',
        '  <c/>',
        '  <!-- <d> -->',
        '  <e>',
        '    <f>two &amp;',
        '      <g/>',
        '    </f>',
        '  </e>',
        '</a>',
      ].join('\n'),
    });
  });

  it('shows what is no XML as it is', () => {
    expect(readableXml('just text').text).toBe('just text');
    expect(readableXml('</a></b><c').text).toBe('</a>\n</b>\n<c');
    expect(readableXml('<a>1\u202E2</a>').text).toBe('<a>1\uFFFD2</a>');
  });

  it('cuts long texts and many lines, and takes no longer for what a stranger made to be slow', () => {
    expect(readableXml(`<a>${'x'.repeat(5_000)}</a>`)).toMatchObject({ isCut: true });
    expect(readableXml('<a/>'.repeat(50), 10)).toMatchObject({ isCut: true });
    expect(readableXml('<a/>'.repeat(10), 10)).toMatchObject({ isCut: false });
    const before = process.cpuUsage();
    for (const evil of ['<!--', '<a>', '<a "', '<![CDATA[']) readableXml(evil.repeat(20_000));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it.each([
    ['UTF-8', new TextEncoder().encode('<a>ä</a>')],
    ['UTF-8 with a mark', new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('<a>ä</a>')])],
    ['UTF-16', new Uint8Array([0xff, 0xfe, ...Buffer.from('<a>ä</a>', 'utf16le')])],
  ])('is read as %s', (_, bytes) => expect(decodeXml(bytes)).toBe('<a>ä</a>'));

  it('is read in the encoding that it declares, if there is such a one', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>ä</a>', 'latin1');
    expect(decodeXml(latin)).toContain('<a>ä</a>');
    expect(decodeXml(Buffer.from('<?xml encoding="klingon"?><a>ä</a>'))).toContain('<a>ä</a>');
    expect(decodeXml(Buffer.from('<?xml encoding="UTF-16"?><a>ä</a>'))).toContain('<a>ä</a>');
  });
});
