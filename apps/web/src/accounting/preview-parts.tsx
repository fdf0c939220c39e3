import type { ComponentChildren } from 'preact';
import users from '../accounts/users.module.css';
import counts from '../directory/directory.module.css';
import { formatNumber } from '../language.ts';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import type { CheckedRow } from './checked-rows.ts';
import { formatCents } from './euros.ts';
import { cellOf, type Finding, findingText } from './findings.ts';
import { shared } from './shared-texts.ts';

/** A cell of a preview: marked if something is wrong with it. */
export function CheckedCell({
  of,
  cell,
  children,
}: {
  of: CheckedRow<unknown>;
  cell: ReturnType<typeof cellOf>;
  children: ComponentChildren;
}) {
  return of.errors.some(({ code }) => cellOf(code) === cell) ? (
    <Status kind="error">{children}</Status>
  ) : (
    <>{children}</>
  );
}

/** What was found about a row, in words. */
export function Findings({ of: { errors, warnings } }: { of: CheckedRow<unknown> }) {
  if (errors.length + warnings.length === 0) return <Status kind="ok">{shared.value.fine}</Status>;
  return (
    <div class={users.stack}>
      {errors.map((finding) => (
        <Status key={`${finding.code} ${finding.column}`} kind="error">
          {findingText(finding)}
        </Status>
      ))}
      {warnings.map((finding) => (
        <Status key={finding.code} kind="warning">
          {findingText(finding)}
        </Status>
      ))}
    </div>
  );
}

export function rowColumn<Row>(): Column<CheckedRow<Row>> {
  const t = shared.value;
  return {
    key: 'row',
    label: t.row,
    width: '80px',
    cell: ({ row }) => (row === null ? t.wholeFile : formatNumber(row)),
  };
}

/** The columns of an amount and of what was found. */
export function amountColumn<Row extends { amountCents: number | null }>(): Column<CheckedRow<Row>> {
  return {
    key: 'amount',
    label: shared.value.amount,
    align: 'end',
    width: '20%',
    sort: (a, b) => (a.data?.amountCents ?? 0) - (b.data?.amountCents ?? 0),
    cell: (row) => (
      <CheckedCell of={row} cell="amount">
        {typeof row.data?.amountCents === 'number' ? formatCents(row.data.amountCents) : '–'}
      </CheckedCell>
    ),
  };
}

export function findingsColumn<Row>(): Column<CheckedRow<Row>> {
  return {
    key: 'check',
    label: shared.value.check,
    width: '32%',
    sort: (a, b) => b.errors.length - a.errors.length || b.warnings.length - a.warnings.length,
    cell: (row) => <Findings of={row} />,
  };
}

/** Numbers that say at a glance what a file holds. */
export const Counts = ({ counts: shown }: { counts: readonly { label: string; value: string }[] }) => (
  <dl class={counts.counts}>
    {shown.map(({ label, value }) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>
          <strong>{value}</strong>
        </dd>
      </div>
    ))}
  </dl>
);

/** The rows that an export or import refused. */
export function RefusedRows({ findings }: { findings: readonly Finding[] }) {
  const t = shared.value;
  if (findings.length === 0) return null;
  return (
    <Table
      caption={t.refusedRows}
      columns={refusedColumns()}
      rows={findings}
      rowKey={({ row, column, code }) => `${row} ${column} ${code}`}
      empty={null}
    />
  );
}

function refusedColumns(): Column<Finding>[] {
  const t = shared.value;
  return [
    {
      key: 'row',
      label: t.row,
      width: '80px',
      cell: ({ row }) => (row === null ? t.wholeFile : formatNumber(row)),
    },
    { key: 'check', label: t.check, cell: (finding) => <Status kind="error">{findingText(finding)}</Status> },
  ];
}
