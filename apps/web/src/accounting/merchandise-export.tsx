import { Download } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { MerchandisePreview, MerchandiseSettings } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import users from '../accounts/users.module.css';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { SelectField } from '../ui/field.tsx';
import { fetchFile, saveFile } from '../ui/file-transfer.ts';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { showToast } from '../ui/toast.tsx';
import { Refused, type Upload, UploadState } from '../ui/upload.tsx';
import { accountIndex, nameKey } from './account-numbers.ts';
import { AssignAccounts, faultsOf, unknownNames } from './assign-accounts.tsx';
import { checkedRows, type CheckedRow } from './checked-rows.ts';
import { ChosenFile } from './chosen-file.tsx';
import { formatCents } from './euros.ts';
import { cellOf, maxFindings, refusedRows } from './findings.ts';
import { useKeptAssignments } from './kept-assignments.ts';
import { changedRows, type ChangedRow, type ListChange, listChanges } from './merchandise-changes.ts';
import { texts } from './merchandise-texts.ts';
import { lastMonth, monthName, monthOptions } from './months.ts';
import { amountColumn, CheckedCell, Counts, findingsColumn, RefusedRows, rowColumn } from './preview-parts.tsx';
import { accountsKey, useAccounts } from './queries.ts';
import { SettingsNotice } from './settings-notice.tsx';
import { shared } from './shared-texts.ts';

interface MerchandiseExportProps {
  file: File | null;
  onFile: (file: File | null) => void;
  preview: Upload<File, MerchandisePreview>;
  isErrorsOnly: boolean;
  viewPath: (view: 'errors' | null) => string;
  settings: MerchandiseSettings | undefined;
  /** Null for an account that may not change them. */
  settingsPath: string | null;
}

export function MerchandiseExport(props: MerchandiseExportProps) {
  const { file, onFile, preview, settings, settingsPath } = props;
  const t = texts.value;
  const w = shared.value;
  const isIncomplete =
    settings?.format === 'extf' &&
    [settings.defaultContraAccount, settings.beraternummer, settings.mandantennummer].includes('');
  return (
    <>
      {isIncomplete && <SettingsNotice path={settingsPath} whom={w.askAdmin} />}
      <Card>
        <p class={users.muted}>{w.fileStays}</p>
        <ChosenFile
          label={t.file}
          hint={t.fileHint}
          accept=".xlsx,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
          file={file}
          busy={preview.isSending}
          onFile={onFile}
        />
        <UploadState upload={preview} onRetry={() => file && void preview.send(file)} />
      </Card>
      {file && preview.data && !preview.error && <Preview {...props} file={file} data={preview.data} />}
    </>
  );
}

interface Stale {
  rows: ChangedRow[];
  list: ListChange[];
}

function Preview(props: MerchandiseExportProps & { file: File; data: MerchandisePreview }) {
  const { file, data, preview, isErrorsOnly, viewPath, settings, settingsPath } = props;
  const t = texts.value;
  const w = shared.value;
  const accounts = useAccounts();
  const index = useMemo(() => accountIndex(accounts.data ?? []), [accounts.data]);
  const [numbers, setNumbers] = useKeptAssignments();
  const [period, setPeriod] = useState(lastMonth);
  const [stale, setStale] = useState<Stale | null>(null);
  const rows = useMemo(() => checkedRows(data), [data]);
  const faulty = useMemo(() => rows.filter(({ errors }) => errors.length > 0), [rows]);
  const unknown = useMemo(() => unknownNames(rows), [rows]);
  const faults = faultsOf(unknown, numbers, index);
  const open = unknown.filter(({ key }) => !numbers[key] || faults.has(key)).length;
  const changed = new Set(stale?.rows.map(({ row }) => row));
  // The list may have changed since it was read for another purpose.
  useEffect(() => void queryClient.invalidateQueries({ queryKey: accountsKey }), [data.accountsVersion]);

  const save = useMutation({
    gcTime: 0,
    mutationFn: () =>
      fetchFile(
        (options) =>
          portal.post('/accounting/merchandise/export', {
            body: {
              file,
              accountsVersion: String(data.accountsVersion),
              assignments: JSON.stringify(unknown.map(({ key, name }) => ({ name, number: numbers[key] }))),
              ...(data.header.period === null && { period }),
            },
            ...options,
          }),
        'merchandise.txt',
      ),
    onSuccess: async (made) => {
      saveFile(made);
      setStale(null);
      showToast(
        unknown.length > 0 ? `${w.downloaded(made.name)} ${t.created(unknown.length)}` : w.downloaded(made.name),
        {
          kind: 'success',
        },
      );
      if (unknown.length === 0) return;
      // The new accounts are in the list now, which has another version.
      const done = new Set(unknown.map(({ key }) => key));
      setNumbers(Object.fromEntries(Object.entries(numbers).filter(([key]) => !done.has(key))));
      await preview.send(file);
    },
    onError: async (error) => {
      if (!isStale(error)) return;
      const [now] = await Promise.all([preview.send(file), queryClient.invalidateQueries({ queryKey: accountsKey })]);
      if (now) setStale({ rows: changedRows(data, now, numbers), list: listChanges(error) });
    },
  });
  useEffect(() => {
    // A refusal is about the list that was sent.
    if (!isStale(save.error)) save.reset();
  }, [data]);
  const isIncomplete = save.error instanceof PortalError && save.error.code === 'SETTINGS_INCOMPLETE';

  return (
    <>
      {stale && <StaleCard stale={stale} onClose={() => setStale(null)} />}
      {unknown.length > 0 && (
        <AssignAccounts unknown={unknown} numbers={numbers} onChange={setNumbers} index={index} faults={faults} />
      )}
      <Card title={t.preview}>
        <Counts
          counts={[
            { label: t.header, value: data.header.text || t.noHeader },
            ...(data.header.period === null ? [] : [{ label: w.month, value: monthName(data.header.period) }]),
            { label: w.rows, value: formatNumber(data.rows.length) },
            {
              label: w.sum,
              value: formatCents(data.rows.reduce((sum, { amountCents }) => sum + (amountCents ?? 0), 0)),
            },
          ]}
        />
        {data.header.period === null && (
          <SelectField
            label={w.month}
            name="period"
            value={period}
            onChange={setPeriod}
            options={monthOptions(period)}
            hint={t.periodHint}
          />
        )}
        <div role="status" class={users.stack}>
          {data.errors.length === 0 ? (
            <Status kind="ok">{w.noErrors}</Status>
          ) : (
            <>
              <Status kind="error">{w.errors(data.errors.length)}</Status>
              <p>{w.correct}</p>
              {data.errors.length >= maxFindings && <p>{w.moreErrors}</p>}
            </>
          )}
          {open > 0 && <Status kind="warning">{t.stillOpen(open)}</Status>}
        </div>
        <div class={users.buttons}>
          <Button
            kind="primary"
            icon={Download}
            disabled={data.errors.length > 0 || open > 0 || preview.isSending}
            busy={save.isPending}
            onClick={() => save.mutate()}
          >
            {w.download}
          </Button>
          {settings && <span class={users.muted}>{t.formats[settings.format]}</span>}
        </div>
        <div role="alert" class={users.stack}>
          {isIncomplete ? (
            <SettingsNotice path={settingsPath} whom={w.askAdmin} />
          ) : (
            save.error && !isStale(save.error) && <Refused error={save.error} />
          )}
          <RefusedRows findings={refusedRows(save.error)} />
        </div>
        <Tabs
          label={w.view}
          current={isErrorsOnly ? 'errors' : 'rows'}
          tabs={[
            { name: 'rows', label: w.allRows, href: viewPath(null) },
            {
              name: 'errors',
              label: (
                <>
                  {w.onlyErrors} <Badge kind={faulty.length > 0 ? 'error' : 'neutral'}>{faulty.length}</Badge>
                </>
              ),
              href: viewPath('errors'),
            },
          ]}
        />
        <Table
          caption={t.preview}
          columns={columnsOf(numbers, changed)}
          rows={isErrorsOnly ? faulty : rows}
          rowKey={({ row }) => String(row)}
          empty={<p>{isErrorsOnly ? t.noErrorRows : t.noRows}</p>}
        />
      </Card>
    </>
  );
}

const isStale = (error: unknown): error is PortalError =>
  error instanceof PortalError && error.code === 'ACCOUNTS_STALE';

type Row = CheckedRow<MerchandisePreview['rows'][number]>;

const columnsOf = (numbers: Readonly<Record<string, string>>, changed: ReadonlySet<number>): Column<Row>[] => [
  rowColumn(),
  {
    key: 'name',
    label: texts.value.article,
    cell: (row) => (
      <CheckedCell of={row} cell="name">
        {row.data?.name || '–'}
      </CheckedCell>
    ),
  },
  amountColumn(),
  {
    key: 'account',
    label: texts.value.account,
    width: '16%',
    cell: (row) => <AccountCell row={row} numbers={numbers} isChanged={changed.has(row.row ?? 0)} />,
  },
  findingsColumn(),
];

interface AccountCellProps {
  row: Row;
  numbers: Readonly<Record<string, string>>;
  isChanged: boolean;
}

function AccountCell({ row: { data, errors }, numbers, isChanged }: AccountCellProps) {
  const t = texts.value;
  if (!data || (data.isNew && errors.some(({ code }) => cellOf(code) === 'name'))) return <>–</>;
  const number = data.accountNumber ?? numbers[nameKey(data.name)];
  if (!number) return <Status kind="warning">{t.noAccount}</Status>;
  return (
    <>
      {isChanged ? <Status kind="info">{number}</Status> : number} {data.isNew && <Badge kind="info">{t.isNew}</Badge>}
    </>
  );
}

function StaleCard({ stale: { rows, list }, onClose }: { stale: Stale; onClose: () => void }) {
  const t = texts.value;
  return (
    <div role="alert">
      <Card
        title={t.staleTitle}
        actions={
          <Button size="small" onClick={onClose}>
            {t.understood}
          </Button>
        }
      >
        <p>{t.staleText}</p>
        {list.length > 0 && (
          <ul>
            {list.map(({ kind, number, name }, at) => (
              <li key={at}>{t.changes[kind](number, name)}</li>
            ))}
          </ul>
        )}
        <Table
          caption={t.staleTitle}
          columns={staleColumns()}
          rows={rows}
          rowKey={({ row }) => String(row)}
          empty={<p>{t.staleNoRows}</p>}
        />
      </Card>
    </div>
  );
}

function staleColumns(): Column<ChangedRow>[] {
  const t = texts.value;
  const w = shared.value;
  return [
    { key: 'row', label: w.row, width: '80px', cell: ({ row }) => formatNumber(row) },
    { key: 'name', label: t.article, cell: ({ name }) => name },
    { key: 'before', label: t.before, cell: ({ before }) => before ?? t.noAccount },
    {
      key: 'now',
      label: t.now,
      cell: ({ now }) => <Status kind={now === null ? 'warning' : 'info'}>{now ?? t.noAccount}</Status>,
    },
  ];
}
