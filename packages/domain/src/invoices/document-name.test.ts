import { expect, it } from 'vitest';
import { documentName } from './document-name.ts';

const pdf = 'application/pdf';
const xml = 'application/xml';
const other = 'application/octet-stream';

it.each<[string | null, string, string]>([
  ['Rechnung 1.pdf', pdf, 'Rechnung 1.pdf'],
  ['rechnung.exe', pdf, 'rechnung.pdf'],
  ['rechnung.scr', xml, 'rechnung.xml'],
  ['rechnung', xml, 'rechnung.xml'],
  ['rechnung.pdf.lnk', other, 'rechnung.pdf.lnk.bin'],
  ['rechnung.html', other, 'rechnung.html.bin'],
  ['rechnung.exe. .', other, 'rechnung.exe.bin'],
  ['alles.zip', 'application/zip', 'alles.zip.bin'],
  ['daten.BIN', other, 'daten.bin'],
  ['fdp\u202Elmx.xml', xml, 'fdplmx.xml'],
  ['a\u0000b\r\n\u0085c.pdf', pdf, 'abc.pdf'],
  ['../../etc/passwd.xml', xml, 'passwd.xml'],
  ['C:\\temp\\a.xml', xml, 'a.xml'],
  ['.xml', xml, 'invoice.xml'],
  ['...', other, 'attachment.bin'],
  [null, pdf, 'invoice.pdf'],
])('%j of the type %s is saved as %s', (name, type, saved) => expect(documentName(name, type)).toBe(saved));

it('is short enough for every file system, and applying it twice changes nothing', () => {
  const long = documentName('ä'.repeat(500), pdf);
  expect(long.length).toBeLessThanOrEqual(160);
  for (const [name, type] of [
    ['x.exe', pdf],
    ['x.exe', other],
    ['x', xml],
  ] as const) {
    const once = documentName(name, type);
    expect(documentName(once, type)).toBe(once);
  }
});
