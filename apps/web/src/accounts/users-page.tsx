import {
  Download,
  KeyRound,
  LogOut,
  MailPlus,
  Pencil,
  Trash,
  Upload,
  UserCheck,
  UserCog,
  UserPlus,
  UserX,
  X,
} from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { compareText, language } from '../language.ts';
import { lazy } from '../lazy.tsx';
import { isAdmin, me } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { useTenants } from '../tenants/queries.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { NewUserDialog } from './user-dialog.tsx';
import { PasswordDialog } from './user-password-dialog.tsx';
import { allRoles, nameOf, words } from './user-words.ts';
import { type BatchAction, BatchDialog } from './users-batch-dialog.tsx';
import { exportUsers } from './users-export.ts';
import { filterOf, listPath, pathOf, type UserFilter } from './users-filter.ts';
import { readUsersAhead, refreshUsers, useUsers } from './users-queries.ts';
import { texts } from './users-texts.ts';
import s from './users.module.css';

type OpenDialog =
  | { kind: 'import' }
  | { kind: 'batch'; action: BatchAction; users: readonly User[] }
  | { kind: 'password'; user: User; isNew: boolean };

const ImportDialog = lazy(() => import('./users-import-dialog.tsx').then(({ ImportDialog }) => ImportDialog));

// The script loads when the pointer reaches a link to the page: the accounts arrive before the click.
if (isAdmin.value)
  void readUsersAhead(
    location.pathname === listPath ? filterOf(Object.fromEntries(new URLSearchParams(location.search))) : {},
  );

/** All accounts. The address says which of them are listed, and may open the form for a new one (`?new=1`). */
export function UsersPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filter = filterOf(params);
  const list = useUsers(filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const [isExporting, setExporting] = useState(false);
  const close = () => setDialog(null);
  const isCreating = params['new'] !== undefined;

  const runExport = async () => {
    setExporting(true);
    try {
      showToast(t.exported(await exportUsers(filter)), { kind: 'success' });
    } catch {
      showToast(t.exportFailed, { kind: 'error' });
    } finally {
      setExporting(false);
    }
  };

  return (
    <Page
      title={pageNames.value.users}
      actions={
        <>
          <Button
            kind="primary"
            icon={UserPlus}
            onClick={() => go(`${pathOf(filter)}${pathOf(filter) === listPath ? '?' : '&'}new=1`)}
          >
            {t.add}
          </Button>
          <Button icon={Upload} onClick={() => setDialog({ kind: 'import' })}>
            {t.import}
          </Button>
          <Button icon={Download} busy={isExporting} onClick={() => void runExport()}>
            {t.export}
          </Button>
        </>
      }
    >
      <Filters filter={filter} onChange={(next, isTyping) => go(pathOf(next), isTyping)} />
      <QueryView query={list}>
        {({ pages }) => (
          <List
            filter={filter}
            pages={pages}
            paging={{
              hasMore: list.hasNextPage,
              isLoading: list.isFetchingNextPage,
              onMore: () => void list.fetchNextPage(),
            }}
            selected={selected}
            onSelect={setSelected}
            onOpen={setDialog}
          />
        )}
      </QueryView>
      {isCreating && (
        <NewUserDialog
          tenantId={filter.tenantId}
          onClose={() => go(pathOf(filter), true)}
          onPassword={(user) => setDialog({ kind: 'password', user, isNew: true })}
        />
      )}
      {dialog?.kind === 'batch' && (
        <BatchDialog
          {...dialog}
          onClose={close}
          onDone={(done) =>
            setSelected((now) => new Set([...now].filter((id) => !done.some((user) => user.id === id))))
          }
        />
      )}
      {dialog?.kind === 'password' && <PasswordDialog user={dialog.user} startsAtOnce={dialog.isNew} onClose={close} />}
      {dialog?.kind === 'import' && (
        <ImportDialog
          tenantId={filter.tenantId}
          onClose={() => {
            close();
            refreshUsers();
          }}
        />
      )}
    </Page>
  );
}

interface FiltersProps {
  filter: UserFilter;
  onChange: (filter: UserFilter, isTyping: boolean) => void;
}

const typingMs = 200;

function Filters({ filter, onChange }: FiltersProps) {
  const t = texts.value;
  const w = words.value;
  const tenants = useTenants();
  const [search, setSearch] = useState(filter.search ?? '');
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  // The back button, or a link, changed the address.
  useLayoutEffect(() => {
    if (timer.current === undefined)
      setSearch((now) => (now.trim() === (filter.search ?? '') ? now : (filter.search ?? '')));
  }, [filter.search]);

  const change = (changes: { [Name in keyof UserFilter]: UserFilter[Name] | undefined }, isTyping = false) => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const next = { ...filter, search: search.trim(), ...changes };
    const kept = Object.entries(next).filter(([, value]) => value !== undefined && value !== '');
    onChange(Object.fromEntries(kept), isTyping);
  };
  const type = (text: string) => {
    setSearch(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ search: text.trim() }, true), typingMs);
  };
  const all = { value: '', label: t.all };
  return (
    <div class={s.filters} role="search" aria-label={t.filters}>
      <TextField
        label={t.search}
        name="search"
        type="search"
        placeholder={t.searchHint}
        maxLength={200}
        value={search}
        onInput={type}
      />
      <SelectField
        label={w.role}
        name="role"
        value={filter.role ?? ''}
        onChange={(role) => change({ role: allRoles.find((one) => one === role) })}
        options={[all, ...allRoles.map((role) => ({ value: role, label: w.roles[role] }))]}
      />
      <SelectField
        label={w.status}
        name="isActive"
        value={String(filter.isActive ?? '')}
        onChange={(value) => change({ isActive: value === '' ? undefined : value === 'true' })}
        options={[all, { value: 'true', label: w.active }, { value: 'false', label: w.inactive }]}
      />
      <SelectField
        label={w.source}
        name="source"
        value={filter.source ?? ''}
        onChange={(value) => change({ source: value === 'local' || value === 'directory' ? value : undefined })}
        options={[all, { value: 'local', label: w.sources.local }, { value: 'directory', label: w.sources.directory }]}
      />
      {tenants.data && (
        <SelectField
          label={w.tenant}
          name="tenantId"
          value={filter.tenantId ?? ''}
          onChange={(tenantId) => change({ tenantId })}
          options={[
            { value: '', label: t.allTenants },
            ...tenants.data.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      )}
    </div>
  );
}

interface ListProps {
  filter: UserFilter;
  pages: readonly { items: readonly User[]; totalCount: number | null }[];
  paging: { hasMore: boolean; isLoading: boolean; onMore: () => void };
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  onOpen: (dialog: OpenDialog) => void;
}

function List({ filter, pages, paging, selected, onSelect, onOpen }: ListProps) {
  const t = texts.value;
  const { route: go } = useLocation();
  const users = useMemo(() => pages.flatMap(({ items }) => items), [pages]);
  const total = pages.at(-1)?.totalCount ?? null;
  const chosen = users.filter(({ id }) => selected.has(id));
  const showsTenants = me.value?.role === 'SUPER_ADMIN' && filter.tenantId === undefined;
  const columns = useMemo(
    () => columnsOf({ onOpen, onEdit: ({ id }) => go(`${listPath}/${id}`), showsTenants, canSort: !paging.hasMore }),
    [language.value, showsTenants, paging.hasMore],
  );
  if (users.length === 0) {
    return <EmptyState title={t.noneFound} action={<a href={listPath}>{t.resetFilters}</a>} />;
  }
  return (
    <>
      <div class={s.bar}>
        <span role="status">
          {chosen.length > 0
            ? t.selected(chosen.length)
            : total === null && paging.hasMore
              ? t.countOfMany(users.length)
              : t.count(total ?? users.length)}
        </span>
        {chosen.length > 0 && (
          <>
            <Menu trigger="button" align="start" label={t.actions} items={actionsFor(chosen, onOpen)} />
            <IconButton icon={X} label={t.clearSelection} onClick={() => onSelect(new Set())} />
          </>
        )}
      </div>
      <Table
        caption={pageNames.value.users}
        columns={columns}
        rows={users}
        rowKey={idOf}
        empty={null}
        paging={{ ...paging, total }}
        selection={{
          selected,
          onChange: onSelect,
          labelOf: (user) => t.select(nameOf(user)),
          allLabel: t.selectAll,
        }}
      />
    </>
  );
}

const idOf = ({ id }: User): string => id;

/** What can be done to these accounts. What makes no difference to any of them is left out. */
function actionsFor(users: readonly User[], onOpen: (dialog: OpenDialog) => void): (MenuItem | 'separator')[] {
  const t = texts.value;
  const item = (action: BatchAction, icon: MenuItem['icon']): MenuItem => ({
    label: t.action[action].label,
    icon,
    onSelect: () => onOpen({ kind: 'batch', action, users }),
  });
  return [
    item('role', UserCog),
    item('welcomeMail', MailPlus),
    item('endSessions', LogOut),
    ...(users.some(({ isActive }) => !isActive) ? [item('activate', UserCheck)] : []),
    // Sent again, it keeps a synchronization from activating the account.
    ...(users.some(({ isActive, source }) => isActive || source === 'directory') ? [item('deactivate', UserX)] : []),
    'separator',
    { ...item('delete', Trash), danger: true },
  ];
}

interface ColumnOptions {
  onOpen: (dialog: OpenDialog) => void;
  onEdit: (user: User) => void;
  showsTenants: boolean;
  /** Only a complete list can be sorted here. */
  canSort: boolean;
}

function columnsOf({ onOpen, onEdit, showsTenants, canSort }: ColumnOptions): Column<User>[] {
  const t = texts.value;
  const w = words.value;
  const by = (text: (user: User) => string) =>
    canSort ? (a: User, b: User) => compareText(text(a), text(b)) : undefined;
  const columns: (Column<User> | false)[] = [
    {
      key: 'name',
      label: t.name,
      width: '20%',
      sort: by(nameOf),
      cell: (user) => {
        const name = nameOf(user);
        return (
          <>
            <a href={`${listPath}/${user.id}`}>{name}</a>{' '}
            {name !== user.username && <span class={s.muted}>{user.username}</span>}
          </>
        );
      },
    },
    {
      key: 'email',
      label: w.email,
      width: '27%',
      sort: by(({ email }) => email ?? ''),
      cell: ({ email }) => email ?? '–',
    },
    showsTenants && {
      key: 'tenant',
      label: w.tenant,
      sort: by(({ tenantName }) => tenantName),
      cell: ({ tenantName }) => tenantName,
    },
    {
      key: 'role',
      label: w.role,
      width: '13%',
      sort: by(({ role }) => String(allRoles.indexOf(role))),
      cell: ({ role }) => w.roles[role],
    },
    {
      key: 'status',
      label: w.status,
      width: '11%',
      sort: by(({ isActive }) => String(isActive)),
      cell: ({ isActive }) => <Status kind={isActive ? 'ok' : 'unknown'}>{isActive ? w.active : w.inactive}</Status>,
    },
    {
      key: 'source',
      label: w.source,
      width: '11%',
      sort: by(({ source }) => source),
      cell: ({ source }) => w.sources[source],
    },
    {
      key: 'lastLogin',
      label: w.lastLogin,
      width: '12%',
      sort: by(({ lastLoginAt }) => lastLoginAt ?? ''),
      cell: ({ lastLoginAt }) => (lastLoginAt === null ? w.never : <Time value={lastLoginAt} style="date" />),
    },
    {
      key: 'actions',
      label: '',
      width: '56px',
      align: 'end',
      cell: (user) => (
        <Menu
          label={t.actionsOf(nameOf(user))}
          items={[
            { label: t.open, icon: Pencil, onSelect: () => onEdit(user) },
            {
              label: t.resetPassword,
              icon: KeyRound,
              disabled: user.source === 'directory',
              onSelect: () => onOpen({ kind: 'password', user, isNew: false }),
            },
            ...actionsFor([user], onOpen),
          ]}
        />
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}
