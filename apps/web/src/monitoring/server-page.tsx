import { ArrowLeft, Pencil, ServerOff, Trash2 } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Server } from '@portal/client/interface';
import { lazy } from '../lazy.tsx';
import { paramsAt } from '../routes.ts';
import { useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Card, Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { PollButton, PollCard, usePoll } from './poll.tsx';
import { listPath, serverPath } from './server-filter.ts';
import { useFreshFindings, useServers } from './servers.ts';
import { StateTab } from './state-tab.tsx';
import { texts } from './texts.ts';

const HistoryTab = lazy(() => import('./history-tab.tsx').then(({ HistoryTab }) => HistoryTab));
const LimitsTab = lazy(() => import('./limits-tab.tsx').then(({ LimitsTab }) => LimitsTab));
const ServerForm = lazy(() => import('./server-form.tsx').then(({ ServerForm }) => ServerForm));

const tabs = ['state', 'history', 'limits', 'settings'] as const;

/** One server: its findings, its history, its thresholds and, for those who manage it, its settings. The address says which (`?tab=`). */
export function ServerPage() {
  const t = texts.value;
  const { path, route: go } = useLocation();
  const { id = '' } = paramsAt(path);
  const servers = useServers();
  const manages = useManages('virtualization') ?? false;
  const poll = usePoll();
  const [isDeleting, setDeleting] = useState(false);
  const server = servers.data?.find((one) => one.id === id);
  useFreshFindings(id, server?.status.checkedAt);
  return (
    <Page
      title={server?.name ?? pageNames.value.virtualization}
      intro={
        <LinkButton href={listPath} icon={ArrowLeft}>
          {t.showAll}
        </LinkButton>
      }
      actions={
        server && (
          <>
            <PollButton poll={poll} />
            {manages && (
              <>
                <LinkButton href={serverPath(id, { tab: 'settings' })} icon={Pencil}>
                  {t.edit}
                </LinkButton>
                <Button icon={Trash2} onClick={() => setDeleting(true)}>
                  {t.delete}
                </Button>
              </>
            )}
          </>
        )
      }
    >
      <PollCard poll={poll} />
      <QueryView query={servers} empty={() => false}>
        {() =>
          server ? (
            <Areas server={server} manages={manages} />
          ) : (
            <EmptyState icon={ServerOff} title={t.notFound}>
              {t.notFoundText}
            </EmptyState>
          )
        }
      </QueryView>
      {isDeleting && server && (
        <DeleteDialog server={server} onDeleted={() => go(listPath, true)} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
}

function Areas({ server, manages }: { server: Server; manages: boolean }) {
  const t = texts.value;
  const { query: params } = useLocation();
  const shown = tabs.filter((name) => name !== 'settings' || manages);
  const tab = shown.find((name) => name === params['tab']) ?? 'state';
  return (
    <>
      <Tabs
        label={t.tabs}
        current={tab}
        tabs={shown.map((name) => ({
          name,
          label: t.tab[name],
          href: serverPath(server.id, { tab: name === 'state' ? '' : name }),
        }))}
      />
      {tab === 'state' && <StateTab server={server} />}
      {tab === 'history' && <HistoryTab server={server} />}
      {tab === 'limits' && <LimitsTab kind={server.kind} />}
      {tab === 'settings' && (
        <Card title={t.tab.settings}>
          <ServerForm server={server} />
        </Card>
      )}
    </>
  );
}
