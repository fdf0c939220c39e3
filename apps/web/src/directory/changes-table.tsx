import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { LdapSyncPreview } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { compareText, formatNumber } from '../language.ts';
import { Badge } from '../ui/badge.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { syncWords } from './sync-words.ts';
import { texts } from './texts.ts';

type Change = LdapSyncPreview['changes'][number];
type Kind = Change['kind'];

const kinds: readonly Kind[] = ['deactivate', 'create', 'update', 'reactivate'];
const badges = { deactivate: 'error', create: 'ok', update: 'info', reactivate: 'accent' } as const;
const countOf = { deactivate: 'deactivated', create: 'created', update: 'updated', reactivate: 'reactivated' } as const;
const rowsAtOnce = 100;

/** The accounts that a synchronization would change. The address says which of them are listed (`?change=`, `?search=`). */
export function ChangesTable({ preview: { changes, counts } }: { preview: LdapSyncPreview }) {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [shown, setShown] = useState(rowsAtOnce);
  const kind = kinds.find((one) => one === params['change']);
  const search = params['search'] ?? '';
  const all = kinds.reduce((sum, one) => sum + counts[countOf[one]], 0);
  const found = changes.filter(
    (change) =>
      (kind === undefined || change.kind === kind) &&
      change.username.toLowerCase().includes(search.trim().toLowerCase()),
  );
  if (changes.length === 0) return <p role="status">{t.noChanges}</p>;
  return (
    <>
      <Tabs
        label={t.changes}
        current={kind ?? 'all'}
        tabs={(['all', ...kinds] as const).map((name) => ({
          name,
          label: (
            <>
              {name === 'all' ? t.allChanges : t.changeKinds[name]}{' '}
              <Badge>{formatNumber(name === 'all' ? all : counts[countOf[name]])}</Badge>
            </>
          ),
          href: pathOf(name === 'all' ? undefined : name, search),
        }))}
      />
      {changes.length < all && (
        <p class={profile.note}>{t.onlyFirst(formatNumber(changes.length), formatNumber(all))}</p>
      )}
      <Table
        caption={t.changes}
        columns={columns()}
        rows={found.slice(0, shown)}
        rowKey={({ kind, username }) => `${kind} ${username}`}
        empty={<p role="status">{t.noneOfKind}</p>}
        search={{
          label: t.search,
          value: search,
          onInput: (text) => go(pathOf(kind, text), true),
        }}
        paging={{
          hasMore: found.length > shown,
          isLoading: false,
          onMore: () => setShown(shown + rowsAtOnce),
          total: found.length,
        }}
      />
    </>
  );
}

function columns(): Column<Change>[] {
  const t = texts.value;
  return [
    {
      key: 'username',
      label: t.username,
      cell: ({ username }) => username,
      sort: (a, b) => compareText(a.username, b.username),
    },
    {
      key: 'kind',
      label: t.change,
      cell: ({ kind }) => <Badge kind={badges[kind]}>{t.changeKinds[kind]}</Badge>,
    },
    {
      key: 'details',
      label: t.details,
      cell: ({ details, fields }) => (
        <>
          {syncWords(details)}
          {fields.length > 0 && (
            <ul>
              {fields.map(({ field, before, after }) => (
                <li key={field}>
                  {t.fields[field]}: <bdi>{before ?? t.empty}</bdi> → <bdi>{after ?? t.empty}</bdi>
                </li>
              ))}
            </ul>
          )}
        </>
      ),
    },
  ];
}

function pathOf(kind: Kind | undefined, search: string): string {
  const query = new URLSearchParams({ tab: 'sync', ...(kind && { change: kind }), ...(search !== '' && { search }) });
  return `/app/admin/directory?${query}`;
}
