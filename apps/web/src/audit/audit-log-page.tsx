import { FilterX, RotateCw, ScrollText } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '@portal/client/interface';
import { me } from '../session.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { useTenants } from '../tenants/queries.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Combobox } from '../ui/combobox.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { actionName, namedActions } from './action-names.ts';
import { EntryDialog } from './entry-dialog.tsx';
import { type AuditFilters, filtersOf, isFiltered } from './filters.ts';
import { useAccounts, useAuditEntries } from './queries.ts';
import { texts } from './texts.ts';

const path = '/app/admin/audit-log';

/**
 * Who did what. The address has the filters (`?action=`, `?actor=`, `?from=`, `?to=`, `?tenant=`), and may open one entry (`?entry=`),
 * which is found even if no filter is given.
 */
export function AuditLogPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filters = filtersOf(params);
  const entries = useAuditEntries(filters);
  const shown = entries.data?.pages.flatMap(({ items }) => items) ?? [];
  const change = (changed: Partial<AuditFilters>) => go(addressOf(path, { ...filters, ...changed }), true);
  const linkTo = (entry: string | null) => addressOf(path, { ...filters, entry });
  const entryId = params['entry'];

  return (
    <Page
      title={pageNames.value.auditLog}
      intro={t.intro}
      actions={
        <Button icon={RotateCw} busy={entries.isRefetching} onClick={() => void entries.refetch()}>
          {t.refresh}
        </Button>
      }
    >
      <Filters filters={filters} entries={shown} onChange={change} />
      <QueryView query={entries}>
        {() => (
          <Table
            caption={pageNames.value.auditLog}
            columns={columns(linkTo)}
            rows={shown}
            rowKey={({ id }) => id}
            empty={
              <EmptyState
                icon={ScrollText}
                title={isFiltered(filters) ? t.noneFound : t.none}
                action={isFiltered(filters) && <LinkButton href={path}>{t.clear}</LinkButton>}
              />
            }
            paging={{
              hasMore: entries.hasNextPage,
              isLoading: entries.isFetchingNextPage,
              onMore: () => void entries.fetchNextPage(),
            }}
          />
        )}
      </QueryView>
      {entryId && (
        <EntryDialog
          key={entryId}
          id={entryId}
          listed={shown.find(({ id }) => id === entryId)}
          linkTo={(only) => addressOf(path, only)}
          onClose={() => go(linkTo(null), true)}
        />
      )}
    </Page>
  );
}

function columns(linkTo: (entry: string) => string): Column<AuditEntry>[] {
  const t = texts.value;
  return [
    { key: 'when', label: t.when, width: '16%', cell: ({ at }) => <Time value={at} /> },
    {
      key: 'action',
      label: t.action,
      width: '20%',
      cell: ({ id, action }) => <a href={linkTo(id)}>{actionName(action)}</a>,
    },
    { key: 'who', label: t.who, width: '14%', cell: ({ actorName }) => actorName ?? t.nobody },
    { key: 'what', label: t.what, width: '38%', cell: ({ summary }) => <span lang="en">{summary}</span> },
    { key: 'address', label: t.address, width: '12%', hideOnCard: true, cell: ({ ip }) => ip ?? t.nothing },
  ];
}

// A field that searches needs an entry that stands for no choice.
const all = 'all';

interface FiltersProps {
  filters: AuditFilters;
  /** They may know the name of an account that no longer exists. */
  entries: readonly AuditEntry[];
  onChange: (changed: Partial<AuditFilters>) => void;
}

function Filters({ filters, entries, onChange }: FiltersProps) {
  const t = texts.value;
  const { action, from, to } = filters;
  const isWrongWay = from !== '' && to !== '' && to < from;
  return (
    <FilterBar label={t.filters}>
      {me.value?.role === 'SUPER_ADMIN' && <TenantFilter value={filters.tenant} onChange={onChange} />}
      <ActorFilter actor={filters.actor} entries={entries} onChange={onChange} />
      <Combobox
        label={t.action}
        items={[{ value: all, label: t.allActions }, ...namedActions()]}
        value={action || all}
        onSelect={(value) => onChange({ action: value === all ? '' : value })}
      />
      <TextField
        label={t.from}
        name="from"
        type="date"
        value={from}
        max={to || undefined}
        onInput={(value) => onChange({ from: value })}
      />
      <TextField
        label={t.to}
        name="to"
        type="date"
        value={to}
        min={from || undefined}
        onInput={(value) => onChange({ to: value })}
        error={isWrongWay ? t.toBeforeFrom : undefined}
      />
      {isFiltered(filters) && (
        <div>
          <LinkButton href={path} kind="ghost" icon={FilterX}>
            {t.clear}
          </LinkButton>
        </div>
      )}
    </FilterBar>
  );
}

function TenantFilter({ value, onChange }: { value: string; onChange: FiltersProps['onChange'] }) {
  const t = texts.value;
  const tenants = useTenants();
  const options = (tenants.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <SelectField
      label={t.tenant}
      name="tenant"
      value={value}
      onChange={(tenant) => onChange({ tenant, actor: '' })}
      options={[{ value: '', label: t.allTenants }, ...options]}
    />
  );
}

function ActorFilter({ actor, entries, onChange }: { actor: string } & Omit<FiltersProps, 'filters'>) {
  const t = texts.value;
  const [search, setSearch] = useState('');
  const accounts = useAccounts(search);
  const found = (accounts.data ?? []).map(({ id, username, displayName, email }) => ({
    value: id,
    label: username,
    hint: displayName ?? email ?? undefined,
  }));
  const name = entries.find(({ actorId }) => actorId === actor)?.actorName ?? actor;
  const isListed = actor === '' || found.some(({ value }) => value === actor);
  return (
    <Combobox
      label={t.actor}
      items={[
        ...(search === '' ? [{ value: all, label: t.allActors }] : []),
        ...(isListed ? [] : [{ value: actor, label: name }]),
        ...found,
      ]}
      value={actor || all}
      onSelect={(value) => {
        setSearch('');
        onChange({ actor: value === all ? '' : value });
      }}
      onQuery={setSearch}
    />
  );
}
