import { useQuery } from '@tanstack/preact-query';
import { BookmarkPlus, Pencil, Plus, Search, Trash } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { SavedSearch } from '@portal/client/interface';
import { savedSearchesQuery } from '../dashboards/widgets/saved-searches-query.ts';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SwitchField } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { useSourceNames } from './queries.ts';
import { SearchDialog } from './search-dialog.tsx';
import { areEmpty } from './search-draft.ts';
import { summaryOf } from './search-summary.ts';
import { texts } from './search-texts.ts';
import { noFilter, savedFiltersOf, tendersAddress } from './tender-filter.ts';
import { TenderTabs } from './tender-tabs.tsx';

const path = '/app/tenders/searches';

type OpenDialog = { kind: 'new' } | { kind: 'remove'; search: SavedSearch };

/** The person's saved searches. The address may open one for a change (`?edit=`). */
export function SearchesPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const searches = useQuery(savedSearchesQuery);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const sourceName = useSourceNames(searches.data?.flatMap(({ filters }) => filters.sources ?? []) ?? []);
  const edited = searches.data?.find(({ id }) => id === params['edit']);
  return (
    <Page
      title={pageNames.value.savedSearches}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
          {t.add}
        </Button>
      }
    >
      <TenderTabs />
      {params['edit'] && searches.data && !edited && <p role="status">{t.gone}</p>}
      <QueryView
        query={searches}
        emptyState={
          <EmptyState
            icon={BookmarkPlus}
            title={t.noneTitle}
            action={
              <LinkButton href="/app/tenders" icon={Search}>
                {t.toList}
              </LinkButton>
            }
          >
            {t.noneText}
          </EmptyState>
        }
      >
        {(rows) => (
          <Table
            caption={pageNames.value.savedSearches}
            columns={columnsOf(
              sourceName,
              (search) => setDialog({ kind: 'remove', search }),
              (id) => go(`${path}?edit=${id}`, true),
            )}
            rows={rows}
            rowKey={({ id }) => id}
            empty={null}
          />
        )}
      </QueryView>
      {dialog?.kind === 'new' && (
        <SearchDialog filters={savedFiltersOf(noFilter, '').filters} onClose={() => setDialog(null)} />
      )}
      {edited && (
        <SearchDialog key={edited.id} search={edited} filters={edited.filters} onClose={() => go(path, true)} />
      )}
      {dialog?.kind === 'remove' && <RemoveDialog search={dialog.search} onClose={() => setDialog(null)} />}
    </Page>
  );
}

function columnsOf(
  sourceName: (key: string) => string,
  onRemove: (search: SavedSearch) => void,
  onEdit: (id: string) => void,
): Column<SavedSearch>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.name,
      cell: ({ id, name }) => <a href={tendersAddress({ ...noFilter, search: id })}>{name}</a>,
    },
    { key: 'filters', label: t.columnFilters, width: '40%', cell: ({ filters }) => summaryOf(filters, sourceName) },
    { key: 'matches', label: t.matches, align: 'end', cell: ({ matchCount }) => formatNumber(matchCount, 0) },
    {
      key: 'news',
      label: t.news,
      align: 'end',
      cell: ({ id, name, newCount }) =>
        newCount === 0 ? (
          '0'
        ) : (
          <a href={tendersAddress({ ...noFilter, search: id, unread: true })} aria-label={t.newsOf(newCount, name)}>
            <Badge kind="accent">{formatNumber(newCount, 0)}</Badge>
          </a>
        ),
    },
    { key: 'alert', label: t.alertColumn, cell: (search) => <AlertSwitch search={search} /> },
    {
      key: 'actions',
      label: t.actions,
      width: '96px',
      cell: (search) => (
        <>
          <IconButton icon={Pencil} label={t.edit(search.name)} onClick={() => onEdit(search.id)} />
          <IconButton icon={Trash} label={t.remove(search.name)} onClick={() => onRemove(search)} />
        </>
      ),
    },
  ];
}

function AlertSwitch({ search: { id, name, filters, instantAlert } }: { search: SavedSearch }) {
  const t = texts.value;
  const change = useMutation({
    mutationFn: (wanted: boolean) =>
      portal.patch('/tenders/saved-searches/{id}', { params: { path: { id } }, body: { instantAlert: wanted } }),
    onSuccess: (saved) =>
      queryClient.setQueryData<SavedSearch[]>(savedSearchesQuery.queryKey, (all) =>
        all?.map((one) => (one.id === id ? saved : one)),
      ),
    onError: () => {
      showToast(t.alertFailed, { kind: 'error' });
      void queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
    },
  });
  const isEmpty = !instantAlert && areEmpty(filters);
  return (
    <SwitchField
      label={<VisuallyHidden>{t.alertOf(name)}</VisuallyHidden>}
      name="instantAlert"
      checked={change.isPending ? change.variables : instantAlert}
      disabled={isEmpty}
      hint={isEmpty ? t.alertNeedsFilters : undefined}
      onChange={(wanted) => change.mutate(wanted)}
    />
  );
}

function RemoveDialog({ search: { id, name }, onClose }: { search: SavedSearch; onClose: () => void }) {
  const t = texts.value;
  const remove = useMutation({
    mutationFn: () => portal.delete('/tenders/saved-searches/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      queryClient.setQueryData<SavedSearch[]>(savedSearchesQuery.queryKey, (all) =>
        all?.filter((one) => one.id !== id),
      );
      showToast(t.removed(name));
    },
  });
  return (
    <ConfirmDialog
      title={t.removeTitle}
      confirmLabel={t.removeNow}
      danger
      onConfirm={() => remove.mutateAsync()}
      onClose={onClose}
    >
      <p dir="auto">{t.removeText(name)}</p>
    </ConfirmDialog>
  );
}
