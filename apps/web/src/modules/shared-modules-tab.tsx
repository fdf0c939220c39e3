import { useQuery } from '@tanstack/preact-query';
import { AppWindow, Pencil, Plus, Trash } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CustomModule } from '@portal/client/interface';
import { compareText } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { categoryName } from '../shell/module-names.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import s from './administration.module.css';
import { CustomModuleDialog } from './custom-module-dialog.tsx';
import { matches } from './matching.ts';
import { categoriesQuery, customModulesQuery, refreshModules } from './queries.ts';
import { texts } from './texts.ts';

const path = '/app/admin/modules';

type OpenDialog = { kind: 'new' } | { kind: 'edit' | 'delete'; module: CustomModule };

/** The custom modules that every account of the organization sees. */
export function SharedModulesTab() {
  const t = texts.value;
  const custom = useQuery(customModulesQuery);
  const categories = useQuery(categoriesQuery);
  const { query: params, route: go } = useLocation();
  const search = params['q'] ?? '';
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const remove = useMutation({
    mutationFn: ({ id }: CustomModule) => portal.delete('/custom-modules/{id}', { params: { path: { id } } }),
    onSuccess: async (_answer, { name }) => {
      showToast(t.deleted(name), { kind: 'success' });
      await refreshModules();
    },
  });
  const nameOfCategory = (key: string) => {
    const found = categories.data?.find((one) => one.key === key);
    return found ? categoryName(found) : '';
  };
  return (
    <div class={s.stack}>
      <p class={s.muted}>{t.sharedIntro}</p>
      <div>
        <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
          {t.addShared}
        </Button>
      </div>
      <QueryView query={custom}>
        {(all) => (
          <Table
            caption={t.sharedModules}
            columns={columnsOf(nameOfCategory, setDialog)}
            rows={all.filter((one) => one.ownerUserId === null && matches(`${one.name} ${one.url}`, search))}
            search={{
              value: search,
              onInput: (q) => go(addressOf(path, { tab: 'shared', q }), true),
              label: t.searchShared,
            }}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={AppWindow} title={t.noneShared}>
                {t.noneSharedText}
              </EmptyState>
            }
          />
        )}
      </QueryView>
      {dialog?.kind === 'new' && <CustomModuleDialog isShared onClose={close} />}
      {dialog?.kind === 'edit' && <CustomModuleDialog module={dialog.module} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          confirmLabel={t.delete}
          danger
          onConfirm={() => remove.mutateAsync(dialog.module)}
          onClose={close}
        >
          {t.deleteSharedText(dialog.module.name)}
        </ConfirmDialog>
      )}
    </div>
  );
}

function columnsOf(
  nameOfCategory: (key: string) => string,
  open: (dialog: OpenDialog) => void,
): Column<CustomModule>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.name,
      sort: (a, b) => compareText(a.name, b.name),
      cell: ({ id, name }) => <a href={`/app/modules/${id}`}>{name}</a>,
    },
    { key: 'url', label: t.url, cell: ({ url }) => url },
    { key: 'category', label: t.category, cell: ({ category }) => nameOfCategory(category) },
    {
      key: 'sortOrder',
      label: t.sortOrder,
      align: 'end',
      sort: (a, b) => a.sortOrder - b.sortOrder,
      cell: ({ sortOrder }) => sortOrder,
    },
    {
      key: 'actions',
      label: t.actions,
      align: 'end',
      cell: (module) => (
        <>
          <IconButton icon={Pencil} label={t.editTitle(module.name)} onClick={() => open({ kind: 'edit', module })} />
          <IconButton icon={Trash} label={t.deleteOf(module.name)} onClick={() => open({ kind: 'delete', module })} />
        </>
      ),
    },
  ];
}
