import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Module } from '@portal/client/interface';
import { compareText } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient, send } from '../portal.ts';
import { categoryName, moduleName } from '../shell/module-names.ts';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SwitchField } from '../ui/field.tsx';
import { QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './administration.module.css';
import { texts } from './modules-texts.ts';
import { categoriesQuery, matrixQuery, modulesQuery, refreshModules } from './queries.ts';

/** Switches the product's modules on and off for the whole organization. */
export function ModuleSwitches() {
  const t = texts.value;
  const modules = useQuery(modulesQuery);
  const categories = useQuery(categoriesQuery);
  const matrix = useQuery(matrixQuery);
  const [switchingOff, setSwitchingOff] = useState<Module | null>(null);
  const grantsOf = (key: string) => matrix.data?.subjects.filter(({ grants }) => Object.hasOwn(grants, key)).length;
  const category = (key: string) => {
    const found = categories.data?.find((one) => one.key === key);
    return found ? categoryName(found) : '';
  };
  return (
    <div class={s.stack}>
      <p class={s.muted}>{t.switchesIntro}</p>
      <QueryView query={modules}>
        {(rows) => (
          <Table
            caption={t.view.switches}
            columns={columnsOf({ grantsOf, category, onOff: setSwitchingOff })}
            rows={rows}
            rowKey={({ key }) => key}
            empty={null}
          />
        )}
      </QueryView>
      {switchingOff && (
        <ConfirmDialog
          title={t.switchOffTitle(nameOf(switchingOff))}
          confirmLabel={t.switchOff}
          danger
          onConfirm={async () => {
            await send(() => setEnabled(switchingOff, false));
            showToast(t.switchedOff(nameOf(switchingOff)), { kind: 'success', undo: undoOf(switchingOff, true) });
          }}
          onClose={() => setSwitchingOff(null)}
        >
          <ul>
            {t.switchOffText(grantsOf(switchingOff.key) ?? 0).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface ColumnsOptions {
  /** How many subjects have a grant; undefined until it is known. */
  grantsOf: (key: string) => number | undefined;
  category: (key: string) => string;
  onOff: (module: Module) => void;
}

function columnsOf({ grantsOf, category, onOff }: ColumnsOptions): Column<Module>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.module,
      sort: (a, b) => compareText(nameOf(a), nameOf(b)),
      cell: (module) => nameOf(module),
    },
    { key: 'about', label: t.about, cell: ({ key }) => t.descriptions[key] },
    { key: 'category', label: t.category, cell: (module) => category(module.category) },
    {
      key: 'grants',
      label: t.grants,
      align: 'end',
      cell: ({ key }) => <a href={`/app/admin/modules?${moduleFilter(key)}`}>{grantsOf(key) ?? '…'}</a>,
    },
    {
      key: 'state',
      label: t.state,
      sort: (a, b) => Number(a.enabled) - Number(b.enabled),
      cell: (module) => <Switch module={module} onOff={() => onOff(module)} />,
    },
  ];
}

const nameOf = ({ key, name }: Module): string => moduleName({ key, name, kind: 'builtin' });

const moduleFilter = (key: Module['key']): string =>
  new URLSearchParams({ module: moduleName({ key, name: key, kind: 'builtin' }) }).toString();

function Switch({ module, onOff }: { module: Module; onOff: () => void }) {
  const t = texts.value;
  const name = nameOf(module);
  const switchOn = useMutation({
    mutationFn: () => setEnabled(module, true),
    onSuccess: () => showToast(t.switchedOn(name), { kind: 'success', undo: undoOf(module, false) }),
    onError: () => showToast(t.notSwitched(name), { kind: 'error' }),
  });
  return (
    <SwitchField
      label={
        <>
          <VisuallyHidden>{name}: </VisuallyHidden>
          {module.enabled ? t.isOn : t.isOff}
        </>
      }
      name={module.key}
      checked={module.enabled}
      onChange={(isOn) => (isOn ? switchOn.mutate() : onOff())}
    />
  );
}

async function setEnabled({ key }: Module, enabled: boolean): Promise<void> {
  const changed = await portal.patch('/modules/{key}', { params: { path: { key } }, body: { enabled } });
  queryClient.setQueryData<Module[]>(modulesQuery.queryKey, (all) =>
    all?.map((one) => (one.key === key ? changed : one)),
  );
  await refreshModules();
}

const undoOf = (module: Module, enabled: boolean) => () =>
  void send(() => setEnabled(module, enabled)).then(
    () => showToast(texts.value.undone, { kind: 'success' }),
    () => showToast(texts.value.notSwitched(nameOf(module)), { kind: 'error' }),
  );
