import { History } from 'lucide';
import { useLocation } from 'preact-iso/router';
import type { LdapSyncRun } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { formatDateTime, formatNumber } from '../language.ts';
import { RunProgress } from '../operations/run-progress.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Card } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { isUnfinished, refreshAfterRun, useRun, useRuns } from './queries.ts';
import { RunResult, RunState } from './run-result.tsx';
import { texts } from './texts.ts';

const listPath = '/app/admin/directory?tab=runs';

/** All synchronizations. The address may name one, whose details then show (`?run=`). */
export function RunsTab() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const runs = useRuns();
  const runId = params['run'];
  return (
    <Card title={t.runs}>
      <QueryView
        query={runs}
        empty={({ pages }) => pages[0]?.items.length === 0}
        emptyState={
          <EmptyState icon={History} title={t.noRuns}>
            {t.noRunsText}
          </EmptyState>
        }
      >
        {({ pages }) => (
          <>
            <Table
              caption={t.runs}
              columns={columns()}
              rows={pages.flatMap(({ items }) => items)}
              rowKey={({ id }) => id}
              empty={null}
              paging={{
                hasMore: runs.hasNextPage,
                isLoading: runs.isFetchingNextPage,
                onMore: () => void runs.fetchNextPage(),
              }}
            />
            <p class={profile.note}>{t.noRunsText}</p>
          </>
        )}
      </QueryView>
      {runId !== undefined && <RunDialog key={runId} id={runId} onClose={() => go(listPath)} />}
    </Card>
  );
}

function columns(): Column<LdapSyncRun>[] {
  const t = texts.value;
  const number = (kind: keyof LdapSyncRun['counts']): Column<LdapSyncRun> => ({
    key: kind,
    label: t.counts[kind],
    align: 'end',
    cell: ({ counts }) => formatNumber(counts[kind]),
    hideOnCard: kind === 'reactivated',
  });
  return [
    {
      key: 'startedAt',
      label: t.startedAt,
      cell: ({ id, startedAt }) => (
        <a href={`${listPath}&run=${id}`}>{startedAt === null ? t.waiting : <Time value={startedAt} />}</a>
      ),
    },
    { key: 'trigger', label: t.trigger, cell: ({ trigger }) => t.triggers[trigger] },
    { key: 'result', label: t.result, cell: (run) => <RunState run={run} /> },
    number('created'),
    number('updated'),
    number('reactivated'),
    number('deactivated'),
    {
      key: 'warnings',
      label: '',
      cell: ({ warnings }) => warnings.length > 0 && <Status kind="warning">{t.warnings(warnings.length)}</Status>,
    },
  ];
}

function RunDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = texts.value;
  const run = useRun(id);
  return (
    <Dialog
      title={run.data?.startedAt ? `${t.runTitle}, ${formatDateTime(run.data.startedAt)}` : t.runTitle}
      size="wide"
      onClose={onClose}
      actions={<Button onClick={onClose}>{t.close}</Button>}
    >
      <QueryView query={run}>{(data) => <RunDetails run={data} />}</QueryView>
    </Dialog>
  );
}

function RunDetails({ run }: { run: LdapSyncRun }) {
  const t = texts.value;
  const { id, trigger, startedAt, finishedAt, warnings, state } = run;
  if (isUnfinished(run)) return <RunProgress runId={id} onEnd={() => void refreshAfterRun()} />;
  const tookMs = startedAt && finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : null;
  return (
    <>
      <p class={profile.note}>
        {t.trigger}: {t.triggers[trigger]}
        {tookMs !== null && ` · ${t.took}: ${t.seconds(formatNumber(tookMs / 1_000))}`}
      </p>
      <RunResult run={run} />
      {state === 'succeeded' && warnings.length === 0 && <p class={profile.note}>{t.noWarnings}</p>}
      {state === 'blocked' && <p>{t.brakeText}</p>}
    </>
  );
}
