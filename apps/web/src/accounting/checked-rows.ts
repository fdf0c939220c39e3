import type { Finding } from './findings.ts';

/** A row of a preview with all that was found about it. `data` is null for a row that was only reported. */
export interface CheckedRow<Row> {
  row: number | null;
  data: Row | null;
  errors: Finding[];
  warnings: Finding[];
}

interface Preview<Row> {
  rows: readonly Row[];
  errors: readonly Finding[];
  warnings: readonly Finding[];
}

/** The rows of a preview in their order, also those that it only reports. What concerns the whole file comes first. */
export function checkedRows<Row extends { row: number; warnings?: readonly Finding['code'][] }>({
  rows,
  errors,
  warnings,
}: Preview<Row>): CheckedRow<Row>[] {
  const byRow = new Map<number | null, CheckedRow<Row>>();
  for (const data of rows) {
    const own = (data.warnings ?? []).map((code): Finding => ({ row: data.row, column: null, code, message: '' }));
    byRow.set(data.row, { row: data.row, data, errors: [], warnings: own });
  }
  const reported = byRow.size;
  const add = (finding: Finding, kind: 'errors' | 'warnings') => {
    const known = byRow.get(finding.row) ?? { row: finding.row, data: null, errors: [], warnings: [] };
    byRow.set(finding.row, known);
    if (
      !known[kind].some(
        ({ code, column }) => code === finding.code && (column === finding.column || kind === 'warnings'),
      )
    )
      known[kind].push(finding);
  };
  for (const finding of errors) add(finding, 'errors');
  for (const finding of warnings) add(finding, 'warnings');
  const all = [...byRow.values()];
  return byRow.size === reported ? all : all.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
}
