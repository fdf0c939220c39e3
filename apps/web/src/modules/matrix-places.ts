/** A cell, counted from 0. */
export interface Place {
  row: number;
  column: number;
}

interface View {
  /** How far the table is scrolled. */
  scrolled: number;
  rowPx: number;
  /** At least the height of what is visible. */
  viewPx: number;
  /** Number of all rows. */
  count: number;
}

/** Rows are drawn in blocks, so that most of scrolling draws nothing. */
const block = 8;

/** The rows to draw: those that are visible and a block on both sides. `end` is the first one that is not drawn. */
export function drawnRows({ scrolled, rowPx, viewPx, count }: View): { first: number; end: number } {
  const size = Math.ceil(viewPx / rowPx / block) * block + 2 * block;
  const wanted = Math.floor(scrolled / rowPx / block) * block - block;
  // A list that became shorter may be scrolled beyond its end.
  const first = Math.max(0, Math.min(wanted, Math.ceil((count - size) / block) * block));
  return { first, end: Math.min(count, first + size) };
}

interface Size {
  rows: number;
  columns: number;
  /** How many rows a page key moves. */
  pageRows: number;
}

/** Where a key leads in a grid; null for other keys. */
export function placeAfter(key: string, isCtrl: boolean, { row, column }: Place, size: Size): Place | null {
  const lastRow = size.rows - 1;
  const lastColumn = size.columns - 1;
  const at = (toRow: number, toColumn: number): Place => ({
    row: Math.max(0, Math.min(toRow, lastRow)),
    column: Math.max(0, Math.min(toColumn, lastColumn)),
  });
  switch (key) {
    case 'ArrowUp':
      return at(row - 1, column);
    case 'ArrowDown':
      return at(row + 1, column);
    case 'ArrowLeft':
      return at(row, column - 1);
    case 'ArrowRight':
      return at(row, column + 1);
    case 'PageUp':
      return at(row - size.pageRows, column);
    case 'PageDown':
      return at(row + size.pageRows, column);
    case 'Home':
      return at(isCtrl ? 0 : row, 0);
    case 'End':
      return at(isCtrl ? lastRow : row, lastColumn);
    default:
      return null;
  }
}
