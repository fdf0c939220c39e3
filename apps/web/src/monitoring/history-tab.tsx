import { useQuery } from '@tanstack/preact-query';
import { History } from 'lucide';
import { useLocation } from 'preact-iso/router';
import type { Server, ServerHistory } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { portal } from '../portal.ts';
import { Chart } from '../ui/chart.tsx';
import { Card } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { lineOf, sectionsOf } from './history-sections.ts';
import { serverPath } from './server-filter.ts';
import { StateMark } from './server-words.tsx';
import { historyKey } from './servers.ts';
import { StateStrip } from './state-strip.tsx';
import { texts } from './texts.ts';

const hourMs = 3_600_000;
const ranges = { '24h': 24 * hourMs, '7d': 7 * 24 * hourMs, '30d': 30 * 24 * hourMs };
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as Range[];

/** How a server fared: its states and figures over time. The address says how far back (`?range=`). */
export function HistoryTab({ server }: { server: Server }) {
  const t = texts.value;
  const { id } = server;
  const { query: params } = useLocation();
  const range = rangeNames.find((name) => name === params['range']) ?? '24h';
  const history = useHistory(id, range);
  return (
    <>
      <Tabs
        label={t.range}
        current={range}
        tabs={rangeNames.map((name) => ({
          name,
          label: t.ranges[name],
          href: serverPath(id, { tab: 'history', range: name === '24h' ? '' : name }),
        }))}
      />
      <QueryView
        query={history}
        empty={({ points }) => points.length === 0}
        emptyState={
          <EmptyState icon={History} title={t.noHistory}>
            {t.noHistoryText}
          </EmptyState>
        }
      >
        {(data) => (
          <>
            <Card title={t.strip}>
              <StateStrip sections={sectionsOf(data, server.pollIntervalMin)} />
            </Card>
            <Lines history={data} server={server} />
            <p class={profile.note}>{t.step(data.stepSec / 60)}</p>
          </>
        )}
      </QueryView>
      <Changes server={server} />
    </>
  );
}

const useHistory = (id: string, range: Range) =>
  useQuery({
    queryKey: [...historyKey(id), range],
    queryFn: ({ signal }) => {
      const now = Date.now();
      const query = { from: new Date(now - ranges[range]).toISOString(), to: new Date(now).toISOString() };
      return portal.get('/virtualization/servers/{id}/history', { params: { path: { id }, query }, signal });
    },
  });

/** What is a percentage shares one chart; counts have one each. */
function Lines({ history, server: { kind, pollIntervalMin } }: { history: ServerHistory; server: Server }) {
  const t = texts.value;
  const names = { ...t.figureNames, fullest: t.figureNames.fullest[kind] };
  const line = (values: readonly (number | null)[]) => lineOf(history, values, pollIntervalMin);
  const percent = history.figures
    .filter(({ unit }) => unit === 'percent')
    .flatMap(({ key, average, highest }) => [
      { label: names[key], points: line(average) },
      // An average hides short peaks, which matter for processors only.
      ...(key === 'cpu' ? [{ label: t.cpuPeak, points: line(highest) }] : []),
    ]);
  const counts = history.figures.filter(({ unit }) => unit === 'count');
  return (
    <>
      {percent.length > 0 && (
        <Card>
          <Chart title={t.usage} unit={t.percent} series={percent} />
        </Card>
      )}
      {counts.map(({ key, average }) => (
        <Card key={key}>
          <Chart title={names[key]} series={[{ label: names[key], points: line(average) }]} height={140} />
        </Card>
      ))}
    </>
  );
}

function Changes({ server: { status } }: { server: Server }) {
  const t = texts.value;
  return (
    <Card title={t.changes}>
      <Table
        caption={t.changes}
        columns={columns()}
        rows={status.changes}
        rowKey={({ at, to }) => `${at} ${to}`}
        empty={<p class={profile.note}>{t.noChanges}</p>}
      />
    </Card>
  );
}

function columns(): Column<Server['status']['changes'][number]>[] {
  const t = texts.value;
  return [
    { key: 'at', label: t.at, cell: ({ at }) => <Time value={at} /> },
    {
      key: 'change',
      label: t.change,
      cell: ({ from, to }) => (
        <>
          <StateMark state={from} /> → <StateMark state={to} />
        </>
      ),
    },
    { key: 'why', label: t.why, cell: ({ text }) => <span lang="en">{text}</span> },
  ];
}
