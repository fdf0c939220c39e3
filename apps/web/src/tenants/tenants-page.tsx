import { Building2, Pencil, Plus, Power, PowerOff, ScrollText, Trash2 } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Tenant } from '@portal/client/interface';
import { compareText, formatNumber } from '../language.ts';
import { portal } from '../portal.ts';
import { me } from '../session.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Menu } from '../ui/menu.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { CreateTenantDialog } from './create-tenant-dialog.tsx';
import { DeleteTenantDialog } from './delete-tenant-dialog.tsx';
import { refreshTenants, useTenants } from './queries.ts';
import { RenameTenantDialog } from './rename-tenant-dialog.tsx';
import { texts } from './texts.ts';

type Action = 'rename' | 'deactivate' | 'delete';

const path = '/app/admin/tenants';
const states = ['all', 'active', 'inactive'] as const;

/** All tenants. The address says which are listed (`?search=`, `?state=`), and may open the form for a new one (`?new=1`). */
export function TenantsPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [dialog, setDialog] = useState<{ action: Action; tenant: Tenant } | null>(null);
  const tenants = useTenants();
  const { search = '', state: wanted } = params;
  const state = states.find((one) => one === wanted) ?? 'all';
  const show = (change: Record<string, string>) => {
    const { search, state, ...rest } = { ...params, ...change };
    go(addressOf(path, { ...rest, search, state: state === 'all' ? '' : state }), true);
  };
  const close = () => setDialog(null);

  return (
    <Page
      title={pageNames.value.tenants}
      intro={t.intro}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => show({ new: '1' })}>
          {t.add}
        </Button>
      }
    >
      <FilterBar label={t.filters}>
        <TextField
          label={t.search}
          name="search"
          type="search"
          value={search}
          onInput={(value) => show({ search: value })}
        />
        <SelectField
          label={t.state}
          name="state"
          value={state}
          onChange={(value) => show({ state: value })}
          options={states.map((value) => ({ value, label: t.filter[value] }))}
        />
      </FilterBar>
      <QueryView query={tenants}>
        {(all) => (
          <Table
            caption={pageNames.value.tenants}
            columns={columns((action, tenant) => setDialog({ action, tenant }))}
            rows={all.filter((tenant) => isWanted(tenant, search, state))}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={Building2} title={t.none} action={<LinkButton href={path}>{t.showAll}</LinkButton>} />
            }
          />
        )}
      </QueryView>
      {params['new'] && <CreateTenantDialog onClose={() => show({ new: '' })} />}
      {dialog?.action === 'rename' && <RenameTenantDialog tenant={dialog.tenant} onClose={close} />}
      {dialog?.action === 'deactivate' && <DeactivateDialog tenant={dialog.tenant} onClose={close} />}
      {dialog?.action === 'delete' && <DeleteTenantDialog tenant={dialog.tenant} onClose={close} />}
    </Page>
  );
}

const isWanted = ({ name, isActive }: Tenant, search: string, state: (typeof states)[number]): boolean =>
  (state === 'all' || isActive === (state === 'active')) &&
  name.toLocaleLowerCase().includes(search.trim().toLocaleLowerCase());

function columns(open: (action: Action, tenant: Tenant) => void): Column<Tenant>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.name,
      sort: (a, b) => compareText(a.name, b.name),
      cell: ({ id, name }) => (
        <>
          {name} {id === me.value?.tenantId && <Badge>{t.own}</Badge>}
        </>
      ),
    },
    {
      key: 'state',
      label: t.state,
      sort: (a, b) => Number(b.isActive) - Number(a.isActive),
      cell: ({ isActive }) => <Status kind={isActive ? 'ok' : 'unknown'}>{isActive ? t.active : t.inactive}</Status>,
    },
    {
      key: 'accounts',
      label: t.accounts,
      align: 'end',
      sort: (a, b) => a.userCount - b.userCount,
      cell: ({ id, name, userCount }) => (
        <a href={accountsOf(id)} aria-label={t.accountsOf(name, formatNumber(userCount))}>
          {formatNumber(userCount)}
        </a>
      ),
    },
    {
      key: 'created',
      label: t.created,
      sort: (a, b) => a.createdAt.localeCompare(b.createdAt),
      cell: ({ createdAt }) => <Time value={createdAt} style="date" />,
    },
    {
      key: 'actions',
      label: t.actions,
      align: 'end',
      cell: (tenant) => <Actions tenant={tenant} onOpen={(action) => open(action, tenant)} />,
    },
  ];
}

const accountsOf = (tenantId: string): string => addressOf('/app/admin/users', { tenantId });

function Actions({ tenant, onOpen }: { tenant: Tenant; onOpen: (action: Action) => void }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const { id, name, isActive } = tenant;
  const isOwn = id === me.value?.tenantId;
  const activate = () =>
    portal.patch('/tenants/{id}', { params: { path: { id } }, body: { isActive: true } }).then(
      async () => {
        await refreshTenants();
        showToast(t.activated(name), { kind: 'success' });
      },
      () => showToast(t.activateFailed(name), { kind: 'error' }),
    );
  return (
    <Menu
      label={t.actionsOf(name)}
      items={[
        { label: t.rename, icon: Pencil, onSelect: () => onOpen('rename') },
        isActive
          ? { label: t.deactivate, icon: PowerOff, disabled: isOwn, onSelect: () => onOpen('deactivate') }
          : { label: t.activate, icon: Power, onSelect: () => void activate() },
        {
          label: t.auditLog,
          icon: ScrollText,
          onSelect: () => go(addressOf('/app/admin/audit-log', { tenant: id })),
        },
        'separator',
        { label: t.delete, icon: Trash2, danger: true, disabled: isOwn, onSelect: () => onOpen('delete') },
      ]}
    />
  );
}

function DeactivateDialog({ tenant: { id, name, userCount }, onClose }: { tenant: Tenant; onClose: () => void }) {
  const t = texts.value;
  const deactivate = async () => {
    await portal.patch('/tenants/{id}', { params: { path: { id } }, body: { isActive: false } });
    await refreshTenants();
    showToast(t.deactivated(name), { kind: 'success' });
  };
  return (
    <ConfirmDialog
      title={t.deactivateTitle(name)}
      confirmLabel={t.deactivate}
      danger
      onConfirm={deactivate}
      onClose={onClose}
    >
      {userCount === 0 ? t.deactivateEmpty : t.deactivateText(userCount)}
    </ConfirmDialog>
  );
}
