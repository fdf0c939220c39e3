import { RefreshCw, Settings } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { showToast } from '../ui/toast.tsx';
import { FetchCard } from './fetch-card.tsx';
import { filterOf, invoicesPath, listPath, longestSearch, type View, views } from './filter.ts';
import { InvoiceList } from './invoice-list.tsx';
import { MailboxSettings } from './mailbox-settings.tsx';
import { listedIn, useInvoices, useMailbox } from './queries.ts';
import { texts } from './texts.ts';
import { useFetch } from './use-fetch.ts';

const mailboxPath = addressOf(invoicesPath, { view: 'mailbox' });

/**
 * The invoices that arrived by mail. The address has the state and the search (`?state=`, `?search=`); `?view=mailbox` shows the settings
 * of the mailbox to those who may manage it.
 */
export function InvoicesPage() {
  const { query: params } = useLocation();
  return params['view'] === 'mailbox' ? <MailboxView /> : <ListView />;
}

function ListView() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filter = filterOf(params);
  const list = useInvoices(filter);
  const manages = useManages('invoice-mailbox') ?? false;
  const mailbox = useMailbox(manages);
  const fetch = useFetch();
  const pages = list.data?.pages;
  const invoices = useMemo(() => (pages ? listedIn(pages, filter) : []), [pages, filter.view]);
  const label = (view: View) => (view === 'all' ? t.all : t.states[view]);
  const isNotSetUp = mailbox.data?.host === null;

  return (
    <Page
      title={pageNames.value.invoices}
      actions={
        <>
          {manages && (
            <LinkButton href={mailboxPath} icon={Settings}>
              {t.mailbox}
            </LinkButton>
          )}
          {!isNotSetUp && (
            <Button kind="primary" icon={RefreshCw} busy={fetch.isStarting || fetch.isRunning} onClick={fetch.start}>
              {t.fetch}
            </Button>
          )}
        </>
      }
    >
      <FetchCard fetch={fetch} mailbox={mailbox.data} manages={manages} mailboxPath={mailboxPath} />
      <Tabs
        label={t.views}
        current={filter.view}
        tabs={views.map((view) => ({
          name: view,
          // The service counts no invoices, so only what is listed is counted.
          label: (
            <>
              {label(view)}{' '}
              {view === filter.view && invoices.length > 0 && (
                <Badge>
                  {invoices.length}
                  {list.hasNextPage && '+'}
                </Badge>
              )}
            </>
          ),
          href: listPath({ ...filter, view }),
        }))}
      />
      <FilterBar label={t.search}>
        <TextField
          label={t.search}
          placeholder={t.searchHint}
          name="search"
          type="search"
          maxLength={longestSearch}
          value={filter.search}
          onInput={(search) => go(listPath({ ...filter, search }), true)}
        />
      </FilterBar>
      <QueryView query={list}>
        {() => (
          <InvoiceList
            // What is selected in one list is not meant in another.
            key={filter.view}
            filter={filter}
            invoices={invoices}
            paging={{
              hasMore: list.hasNextPage,
              isLoading: list.isFetchingNextPage,
              onMore: () => void list.fetchNextPage(),
            }}
          />
        )}
      </QueryView>
    </Page>
  );
}

function MailboxView() {
  const t = texts.value;
  const manages = useManages('invoice-mailbox');
  const mailbox = useMailbox(manages === true);
  const [removals, setRemovals] = useState(0);
  const remove = async () => {
    await portal.delete('/invoices/mailbox');
    await mailbox.refetch();
    // A form that holds nothing of the removed mailbox.
    setRemovals(removals + 1);
    showToast(t.removed, { kind: 'success' });
  };
  return (
    <Page
      title={t.mailboxTitle}
      intro={manages === false ? t.mayNotManage : t.mailboxIntro}
      actions={<LinkButton href={invoicesPath}>{t.toInvoices}</LinkButton>}
    >
      {manages !== false && (
        <QueryView query={mailbox}>
          {(row) => <MailboxSettings key={removals} mailbox={row} onRemove={remove} />}
        </QueryView>
      )}
    </Page>
  );
}
