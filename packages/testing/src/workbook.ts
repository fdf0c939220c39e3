import { utils, write } from 'xlsx';

/** An XLSX file with these cells on its one sheet. */
export function workbook(rows: unknown[][]): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Liste');
  return write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
}
