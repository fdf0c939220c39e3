import { deflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import { describe, expect, it } from 'vitest';
import { invoiceSample } from '@portal/testing/einvoice-samples';
import { type Attachment, mailWith, ublInvoice } from '@portal/testing/invoices';
import { deflatedGigabyte, pdfOf, pdfPages, pdfStream, pdfWithFile, plainPdf } from '@portal/testing/pdf';
import { documentsOf, readDocument } from './documents.ts';
import { groupDocuments } from './group-documents.ts';
import type { ReadDocument } from './read-mail.ts';

const sample = invoiceSample('zugferd-corpus/EN16931_Einfach.pdf');
const readPdf = (bytes: Buffer) => readDocument({ kind: 'pdf', bytes });

async function locked(passwords: { userPassword: string; ownerPassword: string }, xml = '<a/>'): Promise<Buffer> {
  const pdf = await PDFDocument.create();
  pdf.addPage();
  await pdf.attach(Buffer.from(xml), 'factur-x.xml', {});
  pdf.encrypt(passwords);
  return Buffer.from(await pdf.save({ useObjectStreams: false }));
}

describe('a PDF', () => {
  it('without an invoice inside is `other`', async () => {
    expect(await readPdf(plainPdf())).toEqual({ format: 'other', data: null, error: null });
  });

  it('with a password is `ENCRYPTED`, unless it is protected only against changes', async () => {
    expect((await readPdf(await locked({ userPassword: 'geheim', ownerPassword: 'x' }))).error).toBe('ENCRYPTED');
    const readable = await locked({ userPassword: '', ownerPassword: 'x' }, ublInvoice());
    expect(await readPdf(readable)).toMatchObject({ format: 'zugferd', data: { number: 'R-1000' } });
  });

  it.each([0.001, 0.1, 0.3, 0.5, 0.7, 0.9])('cut off at %f of its length is damaged', async (share) => {
    expect(await readPdf(sample.subarray(0, sample.length * share))).toMatchObject({ data: null, error: 'DAMAGED' });
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'DAMAGED'],
    ['a page', Buffer.from('<html><body>x</body></html>'), 'DAMAGED'],
    [
      'without its table',
      Buffer.from(
        plainPdf()
          .toString('latin1')
          .replace(/xref[^]*$/, ''),
        'latin1',
      ),
      'DAMAGED',
    ],
    [
      'a name tree that holds itself',
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 3 0 R >> >>',
        pdfPages,
        '<< /Kids [4 0 R 4 0 R] >>',
        '<< /Kids [3 0 R 3 0 R] >>',
      ]),
      null,
    ],
    [
      'pages that hold themselves',
      pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>']),
      null,
    ],
    ['an object that is itself', pdfOf(['<< /Type /Catalog /Pages 2 0 R /Names 3 0 R >>', pdfPages, '3 0 R']), null],
    [
      'a file that is itself',
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(factur-x.xml) 3 0 R] >> >> >>',
        pdfPages,
        '<< /Type /Filespec /F (factur-x.xml) /EF 3 0 R >>',
      ]),
      null,
    ],
    [
      'lists in lists in lists',
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 3 0 R >> >>',
        pdfPages,
        `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      ]),
      null,
    ],
    [
      'an XML that is no Flate stream',
      pdfWithFile('factur-x.xml', pdfStream(Buffer.from('nonsense'), '/Filter /FlateDecode')),
      'DAMAGED',
    ],
    [
      'an XML that decompresses to a gigabyte',
      pdfWithFile('factur-x.xml', pdfStream(deflatedGigabyte(), '/Filter /FlateDecode')),
      'TOO_LARGE',
    ],
    ['an XML with a DOCTYPE', pdfWithFile('factur-x.xml', pdfStream(Buffer.from('<!DOCTYPE a><a/>'))), 'XML_REFUSED'],
    [
      'another file that decompresses to a gigabyte',
      pdfWithFile('x.xml', pdfStream(deflatedGigabyte(), '/Filter /FlateDecode')),
      null,
    ],
  ])('%s: %#', async (_, bytes, error) => {
    expect(await readPdf(bytes)).toEqual({ format: 'other', data: null, error });
  });

  it.each(['FACTUR-X.XML', 'ZUGFeRD-invoice.xml', 'rechnung.xml'])(
    'holds its invoice under the name %s',
    async (name) => {
      const stream = pdfStream(deflateSync(ublInvoice()), '/Filter /FlateDecode');
      expect(await readPdf(pdfWithFile(name, stream))).toMatchObject({
        format: 'zugferd',
        data: { number: 'R-1000' },
      });
    },
  );

  it('is read if other bytes precede or follow it', async () => {
    for (const bytes of [
      Buffer.concat([Buffer.from('junk\n'.repeat(50)), sample]),
      Buffer.concat([sample, Buffer.alloc(5_000, 0x41)]),
    ])
      expect(await readPdf(bytes)).toMatchObject({ format: 'zugferd', data: { number: '471102' } });
  });
});

const kindsOf = async (attachments: Attachment[]) => {
  const documents = await documentsOf(mailWith({ attachments }));
  return typeof documents === 'string' ? documents : documents.map(({ name, kind, type }) => [name, kind, type]);
};

describe('the documents of a mail', () => {
  it('are recognized by content, type and name; pictures, texts and pages are left out', async () => {
    expect(
      await kindsOf([
        { name: 'r.xml', type: 'text/xml', bytes: ublInvoice() },
        { name: 'r.bin', bytes: plainPdf() },
        { type: 'application/xml', bytes: ublInvoice() },
        { bytes: ublInvoice() },
        { name: 'seite.xml', type: 'text/html', bytes: '<html></html>' },
        { name: 'kaputt.pdf', type: 'application/pdf', bytes: 'nothing' },
        { name: 'programm.xml', type: 'application/xml', bytes: 'MZ\u0090' },
        { name: 'r16.xml', type: 'text/xml', bytes: Buffer.from('\ufeff<?xml version="1.0"?><Invoice/>', 'utf16le') },
        { name: 'logo.png', type: 'image/png', bytes: 'x' },
        { name: 'logo.svg', type: 'image/svg+xml', bytes: '<?xml version="1.0"?><svg/>' },
        { name: 'termin.ics', type: 'text/calendar', bytes: 'x' },
        { name: 'tabelle.xlsx', bytes: 'PK' },
      ]),
    ).toEqual([
      ['r.xml', 'xml', 'application/xml'],
      ['r.bin', 'pdf', 'application/pdf'],
      [null, 'xml', 'application/xml'],
      [null, 'xml', 'application/xml'],
      ['seite.xml', 'xml', 'application/octet-stream'],
      ['kaputt.pdf', 'pdf', 'application/octet-stream'],
      ['programm.xml', 'xml', 'application/octet-stream'],
      ['r16.xml', 'xml', 'application/xml'],
    ]);
  });

  it('that are archives or encrypted mails are not opened', async () => {
    const attachments = [
      { name: 'alles.zip', bytes: 'PK' },
      { name: 'WINMAIL.DAT', bytes: 'x' },
      { name: 'x', type: 'application/ms-tnef', bytes: 'x' },
      { name: 'smime.p7m', type: 'application/pkcs7-mime', bytes: 'x' },
    ];
    const documents = await documentsOf(mailWith({ attachments }));
    if (typeof documents === 'string') throw new Error(documents);
    expect(documents.map(({ kind }) => kind)).toEqual(['unopened', 'unopened', 'unopened', 'unopened']);
    for (const document of documents) expect((await readDocument(document)).error).toBe('UNSUPPORTED');
  });

  it('include those of attached mails, one level deep', async () => {
    const attached = (inner: Attachment[]): Attachment => ({
      name: 'weiter.eml',
      type: 'message/rfc822',
      bytes: mailWith({ attachments: inner }),
      encoding: '8bit',
    });
    const invoice = { name: 'r.xml', type: 'application/xml', bytes: ublInvoice() };
    expect(await kindsOf([attached([invoice])])).toEqual([['r.xml', 'xml', 'application/xml']]);
    expect(await kindsOf([attached([attached([invoice]), { ...invoice, name: 's.xml' }])])).toEqual([
      ['weiter.eml', 'unopened', 'message/rfc822'],
      ['s.xml', 'xml', 'application/xml'],
    ]);
  });

  it('are at most twenty; a mail with more is too large', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `${n}.xml`, bytes: '<a/>' }));
    expect(await kindsOf(many(20))).toHaveLength(20);
    expect(await kindsOf(many(21))).toBe('TOO_LARGE');
    expect(await kindsOf(many(1_000))).toBe('TOO_LARGE');
    const pictures = Array.from({ length: 1_000 }, () => ({ name: 'logo.png', type: 'image/png', bytes: 'x' }));
    expect(await kindsOf([...pictures, ...many(1)])).toHaveLength(1);
  });

  it('of an endlessly nested mail cannot be read', async () => {
    const nested = Array.from(
      { length: 300 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    ).join('');
    expect(await documentsOf(Buffer.from(nested))).toBe('DAMAGED');
    expect(await documentsOf(Buffer.alloc(1_000_000, 'x'))).toEqual([]);
    expect(await documentsOf(Buffer.alloc(0))).toEqual([]);
  });
});

describe('documents of one mail are grouped into invoices', () => {
  const document = (
    name: string,
    kind: 'xml' | 'pdf',
    number: string | null,
    error: 'DAMAGED' | null = null,
  ): ReadDocument => ({
    name,
    kind,
    type: '',
    bytes: Buffer.alloc(0),
    reading:
      number === null
        ? { format: 'other', data: null, error }
        : { format: 'ubl', data: { number } as never, error: null },
  });
  const names = (documents: ReadDocument[]) => groupDocuments(documents).map((group) => group.map(({ name }) => name));

  it.each<[string, ReadDocument[], string[][]]>([
    [
      'with one number, XML first',
      [document('a.pdf', 'pdf', 'R 1'), document('b.xml', 'xml', 'R-1')],
      [['b.xml', 'a.pdf']],
    ],
    [
      'a PDF without data by the number in its name',
      [document('b.xml', 'xml', 'R-1000'), document('Rechnung R1000.pdf', 'pdf', null)],
      [['b.xml', 'Rechnung R1000.pdf']],
    ],
    [
      'or by the name of the XML',
      [document('x.xml', 'xml', '7'), document('X.PDF', 'pdf', null)],
      [['x.xml', 'X.PDF']],
    ],
    [
      'not with another number',
      [document('r.xml', 'xml', '1000'), document('r.pdf', 'pdf', '2000')],
      [['r.xml'], ['r.pdf']],
    ],
    [
      'not for a short number in a name',
      [document('x.xml', 'xml', '7'), document('AGB-2027.pdf', 'pdf', null)],
      [['x.xml'], ['AGB-2027.pdf']],
    ],
    [
      'not one that could not be read',
      [document('r.xml', 'xml', '1000'), document('r.pdf', 'pdf', null, 'DAMAGED')],
      [['r.xml'], ['r.pdf']],
    ],
    ['not two XMLs', [document('a.xml', 'xml', '1000'), document('b.xml', 'xml', '1000')], [['a.xml'], ['b.xml']]],
  ])('%s', (_, documents, groups) => expect(names(documents)).toEqual(groups));
});
