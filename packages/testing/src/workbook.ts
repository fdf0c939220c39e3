import { utils, write } from 'xlsx';
import { zipOf, type ZipEntry } from './zip.ts';

/** An XLSX file with these cells on its only visible sheet, and those of `behind` on a hidden sheet before it. */
export function workbook(rows: unknown[][], { behind }: { behind?: unknown[][] } = {}): Buffer {
  const book = utils.book_new();
  if (behind) {
    utils.book_append_sheet(book, utils.aoa_to_sheet(behind), 'Verborgen');
    utils.book_set_sheet_visibility(book, 'Verborgen', 1);
  }
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Liste');
  return write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const kind = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** The parts of an XLSX file with this XML as its only sheet, for a ZIP. */
export function workbookParts(sheet: string, { sheetTag = '' } = {}): ZipEntry[] {
  const texts = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${kind}.worksheet+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Liste" sheetId="1" r:id="rId1"${sheetTag}/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}">${sheet}</worksheet>`,
  };
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(head + text) }));
}

/** An XLSX file with this XML as its only sheet, for example `<c r="A2" t="str"><v>x</v></c>`. */
export const handmadeWorkbook = (sheet: string, more: ZipEntry[] = []): Buffer =>
  zipOf([...workbookParts(sheet), ...more]);
