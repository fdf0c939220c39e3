import { parse_zip as parseParts, type CellObject, type ParsingOptions, type WorkBook } from 'xlsx';
import type { Cell } from '@portal/domain/accounting/merchandise-lines';
import { unreadable, type WorkbookParts } from './open-workbook.ts';

// The package exports this function, but its types omit it.
declare module 'xlsx' {
  /** Reads a workbook from unpacked parts. */
  export function parse_zip(
    zip: { files: Record<string, { name: string; data: string }> },
    options: ParsingOptions,
  ): WorkBook;
}

export interface Sheet {
  /** The cells in columns A and B of a row, counted from 1. */
  cellsOf: (row: number) => readonly [Cell, Cell];
  /** Number of rows read. */
  rowCount: number;
  /** Whether the workbook has other visible sheets. */
  hasOthers: boolean;
}

/** The first `maxRows` rows of the first visible sheet. Throws 400 `FILE_UNREADABLE`. */
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
        // Distinguishes dates from amounts. Formulas are not read, so that one without a value is an empty cell, not 0.
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

/** The parts that list the sheets and their visibility. Other parts are emptied, which saves time. */
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
    : { other: true };
}
