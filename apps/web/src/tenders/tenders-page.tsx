import { BookmarkPlus, CheckCheck, Pencil, RotateCw, SearchX } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { dayAt } from '../berlin-time.ts';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { lazy } from '../lazy.tsx';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { showToast } from '../ui/toast.tsx';
import { countFilters, FilterChips } from './filter-chips.tsx';
import { FilterPanel } from './filter-panel.tsx';
import { markTenders, refreshTenders, useFacets, useSourceNames, useTenderPages } from './queries.ts';
import { ResultKeys, ResultTable } from './result-table.tsx';
import {
  countWords,
  filterOf,
  maxWords,
  noFilter,
  queryOf,
  savedFiltersOf,
  type Shown,
  shownOf,
  sorts,
  type TenderFilter,
  type TenderQuery,
  tendersAddress,
} from './tender-filter.ts';
import { TenderTabs } from './tender-tabs.tsx';
import s from './tenders.module.css';
import { texts } from './texts.ts';
import { useTyped } from './use-typed.ts';

const SearchDialog = lazy(() => import('./search-dialog.tsx').then(({ SearchDialog }) => SearchDialog));
const DeadlineCalendar = lazy(() => import('./deadline-calendar.tsx').then(({ DeadlineCalendar }) => DeadlineCalendar));

const isWide = () => matchMedia('(width >= 1200px)').matches;

/** All tenders that the account may see. The address has the filters, the order and the view. */
export function TendersPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [isSaving, setSaving] = useState(false);
  const [isOpen] = useState(isWide);
  const today = dayAt(useNow(60_000));
  const filter = filterOf(params);
  const shown = shownOf(params);
  const query = queryOf(filter, today);
  // What stands beside the list is counted once the list is there, so that it never waits.
  const [listed, setListed] = useState('');
  const asked = JSON.stringify(query);
  const facets = useFacets(query, listed === asked);
  const sourceName = useSourceNames([...filter.sources, ...(facets.data?.sources ?? []).map(({ key }) => key)]);
  const onRead = () => setListed(asked);

  const show = (changed: TenderFilter, view: Partial<Shown> = {}) =>
    go(tendersAddress(changed, { ...shown, ...view }), true);
  const change = (changed: Partial<TenderFilter>) => show({ ...filter, ...changed });
  const filters = countFilters({ ...filter, q: '', search: '' });
  const canRank = filter.q !== '' || filter.search !== '';

  return (
    <Page
      title={pageNames.value.tenders}
      actions={
        filter.search ? (
          <LinkButton icon={Pencil} href={`/app/tenders/searches?edit=${filter.search}`}>
            {t.editSearch}
          </LinkButton>
        ) : (
          <Button
            icon={BookmarkPlus}
            onMouseEnter={() => void SearchDialog.preload()}
            onFocus={() => void SearchDialog.preload()}
            onClick={() => setSaving(true)}
          >
            {t.save}
          </Button>
        )
      }
    >
      <TenderTabs />
      <div class={s.row} style={{ alignItems: 'start' }} role="search" aria-label={t.search}>
        <div style={{ flex: '1 1 280px' }}>
          <SearchText q={filter.q} onChange={(q) => change({ q })} />
        </div>
        {shown.view === 'list' && (
          <SelectField
            label={t.sort}
            name="sort"
            value={shown.sort}
            options={sorts
              .filter((sort) => sort !== 'relevance' || canRank || shown.sort === sort)
              .map((value) => ({ value, label: t.sorts[value] }))}
            onChange={(value) => show(filter, { sort: sorts.find((sort) => sort === value) ?? 'published' })}
          />
        )}
      </div>
      <FilterChips filter={filter} sourceName={sourceName} onChange={change} />
      <div class={s.columns}>
        <details open={isOpen}>
          <summary>
            <strong>{filters > 0 ? t.filtersSet(filters) : t.filters}</strong>
          </summary>
          {facets.isError && <p class={s.muted}>{t.countsFailed}</p>}
          <FilterPanel filter={filter} facets={facets.data} sourceName={sourceName} onChange={change} />
        </details>
        <div class={s.stack}>
          <Tabs
            label={t.views}
            current={shown.view}
            tabs={(['list', 'calendar'] as const).map((name) => ({
              name,
              label: t.view[name],
              href: tendersAddress(filter, { ...shown, view: name }),
            }))}
          />
          {shown.view === 'calendar' ? (
            <DeadlineCalendar filter={filter} shown={shown} today={today} onRead={onRead} />
          ) : (
            <Results filter={filter} shown={shown} query={query} onRead={onRead} />
          )}
        </div>
      </div>
      {isSaving && <SearchDialog {...savedFiltersOf(filter, today)} onClose={() => setSaving(false)} />}
    </Page>
  );
}

function SearchText({ q, onChange }: { q: string; onChange: (q: string) => void }) {
  const t = texts.value;
  const [typed, setTyped] = useTyped(q, (text) => {
    if (countWords(text) <= maxWords) onChange(text);
  });
  return (
    <TextField
      label={t.search}
      name="q"
      type="search"
      hint={t.searchHint}
      maxLength={200}
      value={typed}
      onInput={setTyped}
      error={countWords(typed) > maxWords ? t.tooManyWords(maxWords) : undefined}
    />
  );
}

/** A full page is a long table: when the next one comes, the rows stay in their blocks, and the focus in its row. */
const size = 100;

interface ResultsProps {
  filter: TenderFilter;
  shown: Shown;
  query: TenderQuery;
  /** Called once the list is there. */
  onRead: () => void;
}

function Results({ filter, shown, query, onRead }: ResultsProps) {
  const t = texts.value;
  const list = useTenderPages({ query, sort: shown.sort, size });
  const tenders = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data]);
  const isRead = list.isSuccess && !list.isPlaceholderData;
  const key = JSON.stringify(query);
  useEffect(() => {
    if (isRead) onRead();
  }, [isRead, key]);
  const sourceName = useSourceNames(tenders.map(({ sourcePortal }) => sourcePortal));
  const total = list.data?.pages[0]?.totalCount ?? null;
  const unread = tenders.filter(({ triage }) => !triage.read).map(({ id }) => id);
  const address = tendersAddress(filter, shown);

  const markAll = () => {
    void markTenders(unread, { read: true });
    showToast(t.readAllDone(unread.length), { undo: () => void markTenders(unread, { read: false }) });
  };
  if (filter.search && list.error instanceof PortalError && list.error.code === 'NOT_FOUND') {
    return (
      <EmptyState
        icon={SearchX}
        title={t.searchGone}
        action={<LinkButton href={tendersAddress(noFilter)}>{t.listAll}</LinkButton>}
      />
    );
  }
  return (
    <QueryView query={list}>
      {() =>
        tenders.length === 0 ? (
          <Nothing isFiltered={countFilters(filter) > 0} />
        ) : (
          <div class={s.stack} aria-busy={list.isPlaceholderData}>
            <div class={s.row}>
              <strong role="status">{t.found(total)}</strong>
              {unread.length > 0 && (
                <Button size="small" icon={CheckCheck} onClick={markAll}>
                  {t.readAll(unread.length)}
                </Button>
              )}
              <Button
                size="small"
                kind="ghost"
                icon={RotateCw}
                busy={list.isFetching && !list.isFetchingNextPage}
                onClick={() => void refreshTenders()}
              >
                {t.refresh}
              </Button>
            </div>
            <ResultKeys />
            <ResultTable
              // A new search begins at its top.
              key={address}
              tenders={tenders}
              address={address}
              sourceName={sourceName}
              hasMore={list.hasNextPage && !list.isPlaceholderData}
              isLoading={list.isFetchingNextPage}
              hasFailed={list.isFetchNextPageError}
              total={total}
              onMore={() => {
                if (!list.isFetchingNextPage) void list.fetchNextPage();
              }}
            />
          </div>
        )
      }
    </QueryView>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  const t = texts.value;
  if (isFiltered)
    return (
      <EmptyState icon={SearchX} title={t.none}>
        {t.noneText}
      </EmptyState>
    );
  return (
    <EmptyState
      icon={SearchX}
      title={t.noneAtAll}
      action={<LinkButton href="/app/tenders/sources">{t.toSources}</LinkButton>}
    >
      {t.noneAtAllText}
    </EmptyState>
  );
}
