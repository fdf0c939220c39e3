import { Download, Inbox, Pencil, Plus, Trash, Upload } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import type { MerchandiseAccount } from '@portal/client/interface';
import { compareText } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { useManages } from '../shell/modules.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { fetchFile, saveFile } from '../ui/file-transfer.ts';
import { Card } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { Refused } from '../ui/upload.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { nameKey } from './account-numbers.ts';
import { AccountsImportDialog } from './accounts-import-dialog.tsx';
import { texts } from './merchandise-texts.ts';
import { accountsKey, useAccounts } from './queries.ts';
import { shared } from './shared-texts.ts';

type OpenDialog = { kind: 'new' | 'import' } | { kind: 'edit' | 'delete'; account: MerchandiseAccount };

/** The accounts of the merchandise export. */
export function AccountList({ search, onChanged }: { search: string; onChanged: () => void }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const canManage = useManages('merchandise-export') ?? false;
  const accounts = useAccounts();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const changed = (text: string) => {
    showToast(text, { kind: 'success' });
    onChanged();
    void queryClient.invalidateQueries({ queryKey: accountsKey });
  };
  const save = useMutation({
    mutationFn: () =>
      fetchFile((options) => portal.get('/accounting/merchandise/accounts/export', options), 'Konten.csv'),
    onSuccess: (file) => {
      saveFile(file);
      showToast(shared.value.downloaded(file.name), { kind: 'success' });
    },
  });
  const matching = useMemo(() => matchingAccounts(accounts.data ?? [], search), [accounts.data, search]);
  const columns = canManage ? [...accountColumns(), actionColumn(setDialog)] : accountColumns();
  return (
    <Card
      title={t.list}
      actions={
        canManage && (
          <>
            <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
              {t.add}
            </Button>
            <Button icon={Upload} onClick={() => setDialog({ kind: 'import' })}>
              {t.import}
            </Button>
            <Button icon={Download} busy={save.isPending} onClick={() => save.mutate()}>
              {t.export}
            </Button>
          </>
        )
      }
    >
      <div role="alert">{save.error && <Refused error={save.error} />}</div>
      <QueryView query={accounts} emptyState={<EmptyState icon={Inbox} title={t.noAccounts} />}>
        {() => (
          <Table
            caption={t.list}
            columns={columns}
            rows={matching}
            rowKey={({ id }) => id}
            empty={null}
            search={{
              value: search,
              label: t.search,
              onInput: (text) => go(addressOf('/app/merchandise-export', { tab: 'accounts', search: text }), true),
            }}
          />
        )}
      </QueryView>
      {dialog?.kind === 'new' && <AccountDialog onClose={close} onSaved={({ number }) => changed(t.added(number))} />}
      {dialog?.kind === 'edit' && (
        <AccountDialog account={dialog.account} onClose={close} onSaved={({ number }) => changed(t.changed(number))} />
      )}
      {dialog?.kind === 'import' && (
        <AccountsImportDialog
          onClose={close}
          onImported={({ added, changed: other, removed }) => changed(t.imported(added, other, removed))}
        />
      )}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={t.removeTitle}
          confirmLabel={t.removeLabel}
          danger
          onConfirm={async () => {
            await portal.delete('/accounting/merchandise/accounts/{id}', {
              params: { path: { id: dialog.account.id } },
            });
            changed(t.removed(dialog.account.number));
          }}
          onClose={close}
        >
          {t.removeText(dialog.account.number, dialog.account.name)}
        </ConfirmDialog>
      )}
    </Card>
  );
}

function matchingAccounts(accounts: readonly MerchandiseAccount[], search: string): readonly MerchandiseAccount[] {
  const wanted = nameKey(search);
  if (wanted === '') return accounts;
  return accounts.filter(({ number, name }) => number.startsWith(wanted) || nameKey(name).includes(wanted));
}

function accountColumns(): Column<MerchandiseAccount>[] {
  const t = texts.value;
  return [
    {
      key: 'number',
      label: t.number,
      width: '20%',
      sort: (a, b) => Number(a.number) - Number(b.number),
      cell: ({ number }) => number,
    },
    { key: 'name', label: t.name, sort: (a, b) => compareText(a.name, b.name), cell: ({ name }) => name },
  ];
}

function actionColumn(open: (dialog: OpenDialog) => void): Column<MerchandiseAccount> {
  const t = texts.value;
  return {
    key: 'actions',
    label: '',
    align: 'end',
    width: '112px',
    cell: (account) => (
      <>
        <IconButton icon={Pencil} label={t.edit(account.number)} onClick={() => open({ kind: 'edit', account })} />
        <IconButton icon={Trash} label={t.remove(account.number)} onClick={() => open({ kind: 'delete', account })} />
      </>
    ),
  };
}
