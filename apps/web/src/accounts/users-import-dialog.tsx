import { Download } from 'lucide';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { me } from '../session.ts';
import { useTenants } from '../tenants/queries.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { FileField, RadioGroup, SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Section } from '../ui/page.tsx';
import { FailedState, Progress, Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { csvLimits, type CsvProblem, type CsvRow, readCsv } from './csv-read.ts';
import { assignableRoles, nameOf, words } from './user-words.ts';
import { saveCsv } from './users-export.ts';
import {
  importFields,
  type Mapping,
  mappingOf,
  type NewAccount,
  type PlannedRow,
  planImport,
} from './users-import-plan.ts';
import { type Access, rowStates, type RowState, useImportRun } from './users-import-run.ts';
import { texts } from './users-import-texts.ts';
import { readAllUsers, useMailStatus } from './users-queries.ts';
import { Refusal } from './users-refusal.tsx';
import s from './users.module.css';

interface ImportDialogProps {
  /** The tenant that the list shows. */
  tenantId: string | undefined;
  onClose: () => void;
}

interface ReadFile {
  name: string;
  header: string[];
  rows: CsvRow[];
}

/** Creates accounts from a file: choose it, see what becomes of each row, create, and keep the result. */
export function ImportDialog({ tenantId: listed, onClose }: ImportDialogProps) {
  const [file, setFile] = useState<ReadFile | null>(null);
  const [tenantId, setTenantId] = useState(listed ?? me.value?.tenantId ?? '');
  const [isAsking, setAsking] = useState(false);
  const [isSaved, setSaved] = useState(false);
  const known = useMutation({ mutationFn: () => readAllUsers({}) });
  const run = useImportRun(tenantId === me.value?.tenantId ? undefined : tenantId);
  const hasPasswords = !isSaved && [...run.states.values()].some(({ password }) => password !== undefined);
  useUnsavedChanges(run.phase === 'running' || hasPasswords);

  const open = (next: ReadFile) => {
    setFile(next);
    known.mutate();
  };
  const close = () => {
    if (run.phase === 'running') run.stop();
    else if (hasPasswords) setAsking(true);
    else onClose();
  };
  const t = texts.value;
  return (
    <Dialog title={t.title} size="wide" onClose={close} isSafeToClose>
      {run.phase !== 'planning' ? (
        <Result run={run} onClose={close} onSaved={() => setSaved(true)} hasPasswords={hasPasswords} />
      ) : file === null ? (
        <ChooseFile onFile={open} />
      ) : known.error ? (
        <FailedState error={known.error} onRetry={() => known.mutate()} />
      ) : known.data ? (
        <Plan
          file={file}
          users={known.data}
          tenantId={tenantId}
          onTenant={setTenantId}
          onStart={(rows, access) => {
            setSaved(false);
            void run.start(rows, access);
          }}
          onOtherFile={() => setFile(null)}
          onClose={close}
        />
      ) : (
        <>
          <p>{t.checking}</p>
          <Skeleton />
        </>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t.closeTitle}
          confirmLabel={t.closeAnyway}
          danger
          onConfirm={onClose}
          onClose={() => setAsking(false)}
        >
          {t.closeText}
        </ConfirmDialog>
      )}
    </Dialog>
  );
}

function ChooseFile({ onFile }: { onFile: (file: ReadFile) => void }) {
  const t = texts.value;
  const w = words.value;
  const [problem, setProblem] = useState<{ kind: CsvProblem | 'unreadable'; line?: number } | null>(null);
  const read = async ([file]: File[]) => {
    if (!file) return;
    if (file.size > csvLimits.bytes) return setProblem({ kind: 'tooLarge' });
    const bytes = await file.arrayBuffer().catch(() => null);
    if (!bytes) return setProblem({ kind: 'unreadable' });
    const table = readCsv(new Uint8Array(bytes));
    if ('problem' in table) setProblem({ kind: table.problem, ...(table.line && { line: table.line }) });
    else onFile({ name: file.name, ...table });
  };
  return (
    <>
      <FileField
        label={t.file}
        accept=".csv,.txt,.tsv,text/csv,text/plain,text/tab-separated-values"
        onFiles={(files) => void read(files)}
        hint={t.fileHint()}
        error={problem ? t.problems[problem.kind](formatNumber(problem.line ?? 1)) : undefined}
      />
      <div class={s.buttons}>
        <Button
          kind="ghost"
          icon={Download}
          onClick={() =>
            saveCsv(t.templateName, [
              importFields.map((field) => w[field]),
              ['max.meier', 'max.meier@example.org', 'Max Meier', 'Max', 'Meier', w.roles.USER, w.yes],
            ])
          }
        >
          {t.template}
        </Button>
      </div>
    </>
  );
}

interface PlanProps {
  file: ReadFile;
  users: Parameters<typeof planImport>[2]['users'];
  tenantId: string;
  onTenant: (tenantId: string) => void;
  onStart: (rows: readonly PlannedRow[], access: Access) => void;
  onOtherFile: () => void;
  onClose: () => void;
}

function Plan({ file, users, tenantId, onTenant, onStart, onOtherFile, onClose }: PlanProps) {
  const t = texts.value;
  const w = words.value;
  const { data: mail } = useMailStatus();
  const tenants = useTenants();
  const [mapping, setMapping] = useState<Mapping>(() => mappingOf(file.header));
  const [wanted, setAccess] = useState<Access | null>(null);
  const access = wanted ?? (mail?.available ? 'mail' : 'password');
  const rows = useMemo(
    () => planImport(file.rows, mapping, { users, roles: assignableRoles() }),
    [file, mapping, users],
  );
  const fresh = rows.filter(({ fate }) => fate.kind === 'new');
  const isComplete = mapping.username !== null;
  const columns = useMemo(planColumns, [w]);
  const options = [
    { value: '', label: t.noColumn },
    ...file.header.map((name, index) => ({ value: String(index), label: name || t.column(formatNumber(index + 1)) })),
  ];
  return (
    <>
      <Form
        onSubmit={() => {
          if (isComplete && fresh.length > 0) onStart(fresh, access);
        }}
        actions={
          <>
            <Button type="submit" kind="primary" disabled={!isComplete || fresh.length === 0}>
              {t.start(fresh.length)}
            </Button>
            <Button onClick={onOtherFile}>{t.otherFile}</Button>
            <Button kind="ghost" onClick={onClose}>
              {t.cancel}
            </Button>
          </>
        }
      >
        <Section title={t.columns} level={3}>
          <p dir="auto">{file.name}</p>
          <div class={s.filters}>
            {importFields.map((field) => (
              <SelectField
                key={field}
                label={w[field]}
                name={field}
                value={String(mapping[field] ?? '')}
                onChange={(value) => setMapping({ ...mapping, [field]: value === '' ? null : Number(value) })}
                options={options}
                required={field === 'username'}
                error={field === 'username' && !isComplete ? t.usernameNeeded : undefined}
              />
            ))}
            {tenants.data && (
              <SelectField
                label={t.tenant}
                name="tenantId"
                value={tenantId}
                onChange={onTenant}
                options={tenants.data.map(({ id, name }) => ({ value: id, label: name }))}
              />
            )}
          </div>
        </Section>
        <RadioGroup
          legend={t.access}
          name="access"
          value={access}
          onChange={setAccess}
          options={(['mail', 'password', 'later'] as const).map((value) => {
            const isOff = value === 'mail' && mail?.available !== true;
            const hint = isOff ? t.noMailServer : t.accessHints[value];
            return { value, label: t.accesses[value], hint, disabled: isOff };
          })}
        />
        <p role="status">
          {fresh.length > 0
            ? t.summary(formatNumber(fresh.length), formatNumber(rows.length - fresh.length))
            : isComplete && t.nothingNew}
        </p>
      </Form>
      {isComplete && (
        <Section title={t.preview} level={3}>
          <Table caption={t.preview} columns={columns} rows={rows} rowKey={lineOf} empty={null} />
        </Section>
      )}
    </>
  );
}

const lineOf = ({ line }: { line: number }): string => String(line);

/** Problems come first if the last column is sorted. */
const fateOrder = ['invalid', 'duplicate', 'exists', 'new'] as const;

const planColumns = (): Column<PlannedRow>[] => [
  ...accountColumns<PlannedRow>(),
  {
    key: 'fate',
    label: texts.value.fate,
    width: '28%',
    sort: (a, b) => fateOrder.indexOf(a.fate.kind) - fateOrder.indexOf(b.fate.kind),
    cell: Fate,
  },
];

function accountColumns<Row extends { line: number; account: NewAccount }>(): Column<Row>[] {
  const t = texts.value;
  const w = words.value;
  return [
    { key: 'username', label: w.username, width: '18%', cell: ({ account }) => account.username || '–' },
    { key: 'line', label: t.line, width: '64px', cell: ({ line }) => formatNumber(line) },
    {
      key: 'name',
      label: t.name,
      hideOnCard: true,
      cell: ({ account }) => (nameOf(account) === account.username ? '–' : nameOf(account)),
    },
    { key: 'email', label: w.email, hideOnCard: true, cell: ({ account }) => account.email ?? '–' },
    { key: 'role', label: w.role, hideOnCard: true, cell: ({ account }) => w.roles[account.role] },
  ];
}

function Fate({ fate }: PlannedRow) {
  const t = texts.value;
  switch (fate.kind) {
    case 'new':
      return <Status kind="ok">{t.fates.new}</Status>;
    case 'exists':
      return <Status kind="unknown">{t.fates.exists}</Status>;
    case 'duplicate':
      return <Status kind="warning">{t.fates.duplicate(formatNumber(fate.line))}</Status>;
    case 'invalid':
      return <Status kind="error">{t.fates.invalid(words.value[fate.field], t.faults[fate.fault])}</Status>;
  }
}

interface ResultProps {
  run: ReturnType<typeof useImportRun>;
  hasPasswords: boolean;
  onSaved: () => void;
  onClose: () => void;
}

function Result({ run, hasPasswords, onSaved, onClose }: ResultProps) {
  const t = texts.value;
  const { phase, rows, states } = run;
  const body = useRef<HTMLDivElement>(null);
  // The pressed button has gone.
  useLayoutEffect(() => body.current?.focus(), [phase]);
  const stateOf = ({ line }: PlannedRow): RowState => states.get(line) ?? { kind: 'waiting' };
  const count = (...kinds: RowState['kind'][]) => rows.filter((row) => kinds.includes(stateOf(row).kind)).length;
  const [created, failed, waiting] = [count('created', 'mailed', 'noPassword'), count('failed'), count('waiting')];
  const columns = resultColumns(stateOf);

  const download = async () => {
    // The words may not be there yet.
    const { sentenceFor } = await import('../error-texts.ts');
    const w = words.value;
    saveCsv(t.resultName, [
      [t.line, w.username, w.email, w.displayName, w.firstName, w.lastName, w.role, t.result, t.password, t.reason],
      ...rows.map((row) => {
        const { line, account } = row;
        const { kind, password = null, error } = stateOf(row);
        return [
          line,
          account.username,
          account.email,
          account.displayName,
          account.firstName,
          account.lastName,
          w.roles[account.role],
          t.states[kind],
          password,
          error ? sentenceFor(error) : null,
        ];
      }),
    ]);
    onSaved();
  };

  return (
    <div ref={body} class={s.stack} tabIndex={-1}>
      {phase === 'running' ? (
        <>
          <div role="status">
            <Progress label={t.running} value={rows.length - waiting} max={rows.length} />
          </div>
          <div class={s.buttons}>
            <Button onClick={run.stop}>{t.stop}</Button>
          </div>
        </>
      ) : (
        <>
          <div class={s.stack} role="status">
            {created > 0 && <Status kind="ok">{t.created(created)}</Status>}
            {failed > 0 && <Status kind="error">{t.failed(failed)}</Status>}
            {waiting > 0 && <Status kind="unknown">{t.waiting(waiting)}</Status>}
            {hasPasswords && <Status kind="warning">{t.passwordsOnce}</Status>}
          </div>
          <div class={s.buttons}>
            <Button kind="primary" icon={Download} onClick={() => void download()}>
              {t.download}
            </Button>
            {failed + waiting + count('noPassword') > 0 && <Button onClick={() => void run.again()}>{t.again}</Button>}
            <Button onClick={onClose}>{t.close}</Button>
          </div>
          <Table caption={t.result} columns={columns} rows={rows} rowKey={lineOf} empty={null} />
        </>
      )}
    </div>
  );
}

function resultColumns(stateOf: (row: PlannedRow) => RowState): Column<PlannedRow>[] {
  const t = texts.value;
  return [
    ...accountColumns<PlannedRow>().filter(({ key }) => key === 'username' || key === 'line' || key === 'email'),
    {
      key: 'result',
      label: t.result,
      width: '34%',
      sort: (a, b) => rowStates.indexOf(stateOf(a).kind) - rowStates.indexOf(stateOf(b).kind),
      cell: (row) => <Outcome state={stateOf(row)} />,
    },
    { key: 'password', label: t.password, cell: (row) => <code>{stateOf(row).password}</code> },
  ];
}

function Outcome({ state: { kind, error } }: { state: RowState }) {
  const t = texts.value;
  const kinds = { created: 'ok', mailed: 'ok', noPassword: 'warning', failed: 'error', waiting: 'unknown' } as const;
  return (
    <Status kind={kinds[kind]}>
      {t.states[kind]}
      {error !== undefined && (
        <>
          : <Refusal error={error} />
        </>
      )}
    </Status>
  );
}
