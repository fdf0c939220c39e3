import { Download } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CanteenPreview, CanteenSettings } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import users from '../accounts/users.module.css';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { fetchFile, saveFile } from '../ui/file-transfer.ts';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { showToast } from '../ui/toast.tsx';
import { Refused, type Upload, UploadState } from '../ui/upload.tsx';
import { texts } from './canteen-texts.ts';
import { checkedRows, type CheckedRow } from './checked-rows.ts';
import { ChosenFile } from './chosen-file.tsx';
import { formatCents } from './euros.ts';
import { maxFindings, refusedRows } from './findings.ts';
import { monthName, monthOptions } from './months.ts';
import { amountColumn, CheckedCell, Counts, findingsColumn, RefusedRows, rowColumn } from './preview-parts.tsx';
import { SettingsNotice } from './settings-notice.tsx';
import { shared } from './shared-texts.ts';

export const canteenViews = ['rows', 'errors', 'people'] as const;
type View = (typeof canteenViews)[number];

interface CanteenBillingProps {
  file: File | null;
  onFile: (file: File | null) => void;
  preview: Upload<{ file: File; month: string }, CanteenPreview>;
  month: string;
  onMonth: (month: string) => void;
  view: View;
  viewPath: (view: View) => string;
  settings: CanteenSettings | undefined;
  /** Null for an account that may not change them. */
  settingsPath: string | null;
}

export function CanteenBilling(props: CanteenBillingProps) {
  const { file, onFile, preview, month, onMonth, settings, settingsPath } = props;
  const t = texts.value;
  const isIncomplete =
    settings !== undefined && [settings.beraternummer, settings.mandantennummer, settings.lohnart].includes('');
  return (
    <>
      {isIncomplete && <SettingsNotice path={settingsPath} />}
      <Card>
        <p class={users.muted}>{shared.value.fileStays}</p>
        <SelectField
          label={shared.value.month}
          name="month"
          value={month}
          onChange={onMonth}
          options={monthOptions(month)}
          hint={t.monthHint}
        />
        <ChosenFile
          label={t.file}
          hint={t.fileHint}
          accept=".csv,.txt,text/csv,text/plain"
          file={file}
          busy={preview.isSending}
          onFile={onFile}
        />
        <UploadState upload={preview} onRetry={() => file && void preview.send({ file, month })} />
      </Card>
      {file && preview.data && !preview.error && <Preview {...props} file={file} data={preview.data} />}
    </>
  );
}

function Preview(props: CanteenBillingProps & { file: File; data: CanteenPreview }) {
  const { data, view, viewPath } = props;
  const t = texts.value;
  const w = shared.value;
  const rows = useMemo(() => checkedRows(data), [data]);
  const faulty = useMemo(() => rows.filter(({ errors }) => errors.length > 0), [rows]);
  const columns = useMemo(rowColumns, [t]);
  const { totals, errors } = data;
  return (
    <Card title={t.preview}>
      <Counts
        counts={[
          { label: w.rows, value: formatNumber(data.rows.length) },
          { label: t.people, value: formatNumber(totals.people) },
          { label: w.sum, value: formatCents(totals.amountCents) },
          { label: t.encoding, value: t.encodings[data.encoding] },
        ]}
      />
      <div role="status" class={users.stack}>
        {errors.length === 0 ? (
          <Status kind="ok">{w.noErrors}</Status>
        ) : (
          <>
            <Status kind="error">{w.errors(errors.length)}</Status>
            <p>{w.correct}</p>
            {errors.length >= maxFindings && <p>{w.moreErrors}</p>}
          </>
        )}
      </div>
      <Export {...props} />
      <Tabs
        label={w.view}
        current={view}
        tabs={[
          { name: 'rows', label: w.allRows, href: viewPath('rows') },
          {
            name: 'errors',
            label: (
              <>
                {w.onlyErrors} <Badge kind={errors.length > 0 ? 'error' : 'neutral'}>{faulty.length}</Badge>
              </>
            ),
            href: viewPath('errors'),
          },
          { name: 'people', label: t.perPerson, href: viewPath('people') },
        ]}
      />
      {view === 'people' ? (
        <Table
          caption={t.perPerson}
          columns={personColumns()}
          rows={totals.byPerson}
          rowKey={({ personnelNumber }) => personnelNumber}
          empty={<p>{t.noPeople}</p>}
        />
      ) : (
        <Table
          caption={t.preview}
          columns={columns}
          rows={view === 'errors' ? faulty : rows}
          rowKey={({ row }) => String(row)}
          empty={<p>{view === 'errors' ? t.noErrorRows : t.noRows}</p>}
        />
      )}
    </Card>
  );
}

type Row = CheckedRow<CanteenPreview['rows'][number]>;

const rowColumns = (): Column<Row>[] => [
  rowColumn(),
  {
    key: 'personnel',
    label: texts.value.personnelNumber,
    width: '16%',
    cell: (row) => (
      <CheckedCell of={row} cell="number">
        {row.data?.personnelNumber || '–'}
      </CheckedCell>
    ),
  },
  { key: 'name', label: shared.value.name, cell: ({ data }) => data?.name || '–' },
  amountColumn(),
  findingsColumn(),
];

type Person = CanteenPreview['totals']['byPerson'][number];

function personColumns(): Column<Person>[] {
  return [
    { key: 'personnel', label: texts.value.personnelNumber, cell: ({ personnelNumber }) => personnelNumber },
    { key: 'name', label: shared.value.name, cell: ({ name }) => name || '–' },
    {
      key: 'amount',
      label: shared.value.sum,
      align: 'end',
      sort: (a, b) => a.amountCents - b.amountCents,
      cell: ({ amountCents }) =>
        amountCents < 0 ? <Status kind="warning">{formatCents(amountCents)}</Status> : formatCents(amountCents),
    },
  ];
}

/** The first names of a long list are enough to recognize it. */
const namedPeople = 20;

function Export({
  file,
  month,
  data,
  settings,
  settingsPath,
  preview,
}: CanteenBillingProps & { file: File; data: CanteenPreview }) {
  const t = texts.value;
  const w = shared.value;
  const [isAsking, setAsking] = useState(false);
  const save = useMutation({
    gcTime: 0,
    mutationFn: (allowNegative: boolean) =>
      fetchFile(
        (options) => portal.post('/accounting/canteen/export', { body: { file, month, allowNegative }, ...options }),
        'canteen.txt',
      ),
    onSuccess: (made) => {
      saveFile(made);
      showToast(w.downloaded(made.name), { kind: 'success' });
    },
  });
  // A refusal is about the list that was sent.
  useEffect(() => save.reset(), [data]);
  const negative = data.totals.byPerson.filter(({ amountCents }) => amountCents < 0);
  const isIncomplete = save.error instanceof PortalError && save.error.code === 'SETTINGS_INCOMPLETE';
  return (
    <div class={users.stack}>
      <div class={users.buttons}>
        <Button
          kind="primary"
          icon={Download}
          disabled={data.errors.length > 0 || preview.isSending}
          busy={save.isPending}
          onClick={() => (negative.length > 0 ? setAsking(true) : save.mutate(false))}
        >
          {w.download}
        </Button>
        {settings && <span class={users.muted}>{t.exportTo(t.targets[settings.target], monthName(month))}</span>}
      </div>
      <div role="alert" class={users.stack}>
        {isIncomplete ? <SettingsNotice path={settingsPath} /> : save.error && <Refused error={save.error} />}
        <RefusedRows findings={refusedRows(save.error)} />
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t.negativeTitle}
          confirmLabel={t.exportAnyway}
          onConfirm={() => save.mutateAsync(true)}
          onClose={() => setAsking(false)}
        >
          <p>{t.negativeText}</p>
          <ul>
            {negative.slice(0, namedPeople).map(({ personnelNumber, name, amountCents }) => (
              <li key={personnelNumber}>
                {personnelNumber} {name}: {formatCents(amountCents)}
              </li>
            ))}
          </ul>
          {negative.length > namedPeople && <p>{t.more(formatNumber(negative.length - namedPeople))}</p>}
        </ConfirmDialog>
      )}
    </div>
  );
}
