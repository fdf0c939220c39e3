import { useQuery } from '@tanstack/preact-query';
import { Undo2, UserPlus } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import type { GrantMatrix as Matrix, User } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal, queryClient, send } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { moduleName } from '../shell/module-names.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Form } from '../ui/form.tsx';
import { EmptyState, Progress, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import s from './administration.module.css';
import {
  compareDraft,
  type GrantChange,
  type GrantDraft,
  type Level,
  type Subject,
  withChange,
  withGrant,
  withoutChange,
} from './grant-draft.ts';
import { GrantMatrix } from './grant-matrix.tsx';
import { texts } from './grants-texts.ts';
import { matches } from './matching.ts';
import { nameOf, PickAccountsDialog } from './pick-accounts-dialog.tsx';
import { matrixQuery } from './queries.ts';
import { type FailedChange, saveGrants } from './save-grants.ts';

const path = '/app/admin/modules';
const kinds = ['all', 'group', 'user'] as const;

/**
 * Who may use which module. Changes are collected and saved together: a key pressed by mistake opens nothing to anybody, a level that is only
 * passed on the way to the next one never takes effect, and everything is listed in words before it is sent.
 */
export function GrantsTab() {
  const matrix = useQuery(matrixQuery);
  return (
    <QueryView query={matrix} empty={() => false}>
      {(data) => <Editor matrix={data} />}
    </QueryView>
  );
}

type Conflicts = ReturnType<typeof compareDraft>['conflicts'];

function Editor({ matrix }: { matrix: Matrix }) {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [draft, setDraft] = useState<GrantDraft>(new Map());
  /** Accounts without a grant of their own, to which the person wants to give one. */
  const [added, setAdded] = useState<readonly Subject[]>([]);
  const [isAdding, setAdding] = useState(false);
  const [failed, setFailed] = useState<readonly FailedChange[]>([]);
  const [asked, setAsked] = useState<{ due: GrantChange[]; conflicts: Conflicts } | null>(null);
  const [progress, setProgress] = useState({ done: 0, of: 0 });
  useUnsavedChanges(draft.size > 0);

  const search = params['q'] ?? '';
  const moduleSearch = params['module'] ?? '';
  const kind = kinds.find((one) => one === params['kind']) ?? 'all';
  const filter = (changes: Record<string, string>) => go(addressOf(path, { ...params, ...changes }), true);

  const all = useMemo(() => {
    const known = new Set(matrix.subjects.filter(({ type }) => type === 'user').map(({ id }) => id));
    return [...matrix.subjects, ...added.filter(({ id }) => !known.has(id))];
  }, [matrix, added]);
  const subjects = useMemo(
    () => all.filter(({ name, type }) => (kind === 'all' || kind === type) && matches(name, search)),
    [all, kind, search],
  );
  const modules = useMemo(
    () =>
      matrix.modules
        .map((module) => ({ ...module, name: nameOfModule(module.key, module.name) }))
        .filter(({ name }) => matches(name, moduleSearch)),
    [matrix, moduleSearch, t],
  );
  const namesOfModules = useMemo(
    () => new Map(matrix.modules.map(({ key, name }) => [key, nameOfModule(key, name)])),
    [matrix, t],
  );
  const cellName = ({ subject, module }: GrantChange) => t.cell(subject.name, namesOfModules.get(module) ?? module);

  const save = useMutation({
    mutationFn: async (changes: GrantChange[]) => {
      setProgress({ done: 0, of: changes.length });
      setFailed([]);
      const saved: GrantChange[] = [];
      try {
        setFailed(
          await saveGrants(changes, (change) => {
            saved.push(change);
            setProgress(({ done, of }) => ({ done: done + 1, of }));
            noteSaved(change);
            setDraft((now) => withoutChange(now, change));
          }),
        );
      } finally {
        if (saved.length > 0) tellSaved(saved);
        void queryClient.invalidateQueries({ queryKey: matrixQuery.queryKey });
      }
    },
  });
  /** Compares the draft with what others did meanwhile, and sends it if nobody touched the same cells. */
  const check = useMutation({
    mutationFn: async () => {
      const now = await portal.get('/module-grants/matrix');
      queryClient.setQueryData(matrixQuery.queryKey, now);
      const { due, conflicts, settled } = compareDraft(draft.values(), now);
      setDraft((before) => settled.reduce(withoutChange, before));
      return { due, conflicts, settled };
    },
  });
  const submit = async () => {
    save.reset();
    const { due, conflicts, settled } = await check.mutateAsync();
    if (conflicts.length > 0) return setAsked({ due, conflicts });
    if (due.length > 0) return save.mutateAsync(due);
    if (settled.length > 0) showToast(t.nothingLeft);
    return undefined;
  };

  const set = (subject: Subject, module: string, from: Level, to: Level) =>
    setDraft((before) => withChange(before, { subject, module, from, to }));

  return (
    <div class={s.stack}>
      <p class={s.muted}>{t.intro}</p>
      <FilterBar label={t.filter}>
        <TextField label={t.search} name="q" type="search" value={search} onInput={(q) => filter({ q })} />
        <TextField
          label={t.searchModules}
          name="module"
          type="search"
          value={moduleSearch}
          onInput={(module) => filter({ module })}
        />
        <SelectField
          label={t.kind}
          name="kind"
          value={kind}
          onChange={(value) => filter({ kind: value === 'all' ? '' : value })}
          options={kinds.map((value) => ({ value, label: t.kinds[value] }))}
        />
        <Button icon={UserPlus} onClick={() => setAdding(true)}>
          {t.addAccount}
        </Button>
      </FilterBar>
      {subjects.length === 0 || modules.length === 0 ? (
        <Nothing isFiltered={search !== '' || moduleSearch !== '' || kind !== 'all'} />
      ) : (
        <GrantMatrix subjects={subjects} modules={modules} draft={draft} onChange={set} />
      )}
      {(draft.size > 0 || failed.length > 0) && (
        <Form
          label={t.changes}
          onSubmit={submit}
          error={check.error ?? save.error}
          actions={
            <>
              <Button type="submit" kind="primary" busy={check.isPending || save.isPending}>
                {t.save(draft.size)}
              </Button>
              <Button
                onClick={() => {
                  setDraft(new Map());
                  setFailed([]);
                }}
              >
                {t.discard}
              </Button>
            </>
          }
        >
          <Changes
            draft={draft}
            failed={failed}
            cellName={cellName}
            onTakeBack={(change) => setDraft((now) => withoutChange(now, change))}
          />
          {save.isPending && <Progress label={t.saving} value={progress.done} max={progress.of} />}
        </Form>
      )}
      <p class={s.muted} role="status">
        {t.shown(subjects.length, all.length)}
      </p>
      <Legend />
      {isAdding && (
        <PickAccountsDialog
          title={t.addAccount}
          submitLabel={t.addCount}
          taken={new Set(all.filter(({ type }) => type === 'user').map(({ id }) => id))}
          takenHint={t.isListed}
          onClose={() => setAdding(false)}
          onSubmit={(accounts) => {
            setAdded([...added, ...accounts.map(asSubject)]);
            // The new rows are seen.
            filter({ q: '', kind: 'user' });
          }}
        />
      )}
      {asked && (
        <ChangedMeanwhileDialog
          changes={asked.conflicts.map((conflict) => ({
            label: cellName(conflict),
            theirs: wordFor(conflict.theirs),
            mine: wordFor(conflict.to),
          }))}
          onKeepMine={() => {
            setAsked(null);
            void save.mutateAsync([...asked.due, ...asked.conflicts]).catch(() => undefined);
          }}
          onTakeTheirs={() => {
            setAsked(null);
            setDraft((before) => asked.conflicts.reduce<GrantDraft>(withoutChange, before));
            if (asked.due.length > 0) void save.mutateAsync(asked.due).catch(() => undefined);
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}

const nameOfModule = (key: string, name: string): string => moduleName({ key, name, kind: 'builtin' });

const asSubject = (account: User): Subject => ({ type: 'user', id: account.id, name: nameOf(account), grants: {} });

const wordFor = (level: Level): string => (level === null ? texts.value.none : texts.value.levels[level]);

function noteSaved(change: GrantChange): void {
  queryClient.setQueryData<Matrix>(matrixQuery.queryKey, (before) => before && withGrant(before, change));
}

function tellSaved(saved: readonly GrantChange[]): void {
  showToast(texts.value.saved(saved.length), { kind: 'success', undo: () => void takeBack(saved) });
}

/** Gives saved cells their former level, except those that another administrator changed since. */
async function takeBack(saved: readonly GrantChange[]): Promise<void> {
  const t = texts.value;
  try {
    const left = await send(async () => {
      const now = await portal.get('/module-grants/matrix');
      const { due, conflicts } = compareDraft(
        saved.map(({ from, to, ...cell }) => ({ ...cell, from: to, to: from })),
        now,
      );
      const failed = await saveGrants(due, noteSaved);
      return failed.length + conflicts.length;
    });
    showToast(left === 0 ? t.undone : t.partlyUndone(left), { kind: left === 0 ? 'success' : 'error' });
  } catch {
    showToast(t.notUndone, { kind: 'error' });
  }
  await queryClient.invalidateQueries({ queryKey: matrixQuery.queryKey });
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const t = texts.value;
  if (isFiltered) return <p role="status">{t.noMatch}</p>;
  return (
    <EmptyState title={t.noSubjects} action={<a href="/app/admin/groups">{t.toGroups}</a>}>
      {t.noSubjectsText}
    </EmptyState>
  );
}

interface ChangesProps {
  draft: GrantDraft;
  failed: readonly FailedChange[];
  cellName: (change: GrantChange) => string;
  onTakeBack: (change: GrantChange) => void;
}

/** Lists in words what Save will do. */
function Changes({ draft, failed, cellName, onTakeBack }: ChangesProps) {
  const t = texts.value;
  return (
    <>
      {failed.length > 0 && <Status kind="error">{t.failed(failed.length)}</Status>}
      <details open={failed.length > 0 || undefined}>
        <summary>{t.unsaved(draft.size)}</summary>
        <ul class={s.changes}>
          {[...draft].map(([key, change]) => (
            <li key={key}>
              <span>
                {cellName(change)}: {t.step(wordFor(change.from), wordFor(change.to))}
              </span>
              <IconButton
                size="small"
                icon={Undo2}
                label={t.takeBack(cellName(change))}
                onClick={() => onTakeBack(change)}
              />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Legend() {
  const t = texts.value;
  return (
    <details class={s.muted}>
      <summary>{t.help}</summary>
      <ul>
        {t.helpLines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}
