import { parse_zip as parseParts, type CellObject, type ParsingOptions, type WorkBook } from 'xlsx';
import type { Cell } from '@portal/domain/accounting/merchandise-lines';
import { unreadable, type WorkbookParts } from './open-workbook.ts';

// What the package exports and its types leave out.
declare module 'xlsx' {
  /** Reads a workbook from parts that were unpacked elsewhere. */
  export function parse_zip(
    zip: { files: Record<string, { name: string; data: string }> },
    options: ParsingOptions,
  ): WorkBook;
}

export interface Sheet {
  /** What stands in columns A and B of a row, counted from 1. */
  cellsOf: (row: number) => readonly [Cell, Cell];
  /** Rows that were read. */
  rowCount: number;
  /** Whether there are further visible sheets. */
  hasOthers: boolean;
}

/** The first visible sheet of a workbook, as far as `maxRows`. Throws 400 `FILE_UNREADABLE`. */
export function readSheet(parts: WorkbookParts, maxRows: number): Sheet {
  const files = Object.fromEntries([...parts].map(([name, data]) => [name, { name, data }]));
  try {
    const { SheetNames: names, Workbook: book } = parseParts({ files: frameOf(parts) }, { sheets: [] });
    const visible = names.map((_name, index) => index).filter((index) => !book?.Sheets?.[index]?.Hidden);
    const [index] = visible;
    const name = names[index ?? -1];
    if (index === undefined || name === undefined) throw unreadable('The file has no sheet.');
    const { Sheets: sheets } = parseParts(
      { files },
      {
        sheets: index,
        sheetRows: maxRows,
        dense: true,
        // Dates are told from amounts. Formulas stay unread: one without a value is then an empty cell, and would be a 0 otherwise.
        cellDates: true,
        UTC: true,
        cellFormula: false,
        cellHTML: false,
        cellText: false,
      },
    );
    const rows = sheets[name]?.['!data'];
    if (!rows) throw unreadable('The sheet cannot be read.');
    return {
      cellsOf: (row) => [cellOf(rows[row - 1]?.[0]), cellOf(rows[row - 1]?.[1])],
      rowCount: rows.length,
      hasOthers: visible.length > 1,
    };
  } catch (error) {
    throw error instanceof Error && error.name === 'PortalError'
      ? error
      : unreadable('This XLSX file is damaged.', error);
  }
}

/** What says which sheets there are and which are hidden; the texts and styles of cells are empty, and take no time. */
const frameOf = (parts: WorkbookParts) =>
  Object.fromEntries(
    [...parts].map(([name, data]) => [name, { name, data: /\.rels$|workbook|Content_Types/.test(name) ? data : '' }]),
  );

function cellOf(cell: CellObject | undefined): Cell {
  if (cell?.v === undefined) return undefined;
  if (cell.t === 's') return String(cell.v);
  if (cell.t === 'n') return Number(cell.v);
  return cell.v instanceof Date && !Number.isNaN(cell.v.getTime())
    ? { day: cell.v.toISOString().slice(0, 10) }
    : { odd: true };
}
