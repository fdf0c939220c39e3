import { History } from 'lucide';
import type { CloudTransition } from '@portal/client/interface';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { cloudPath } from './cloud-filter.ts';
import { useTransitions } from './clouds.ts';
import { Sentence } from './sentence.tsx';
import { texts } from './texts.ts';

/** Outages and recoveries of one cloud, or of all, newest first. */
export function Transitions({ instanceId }: { instanceId?: string | undefined }) {
  const t = texts.value;
  const list = useTransitions(instanceId);
  return (
    <QueryView query={list}>
      {({ pages }) => (
        <Table
          caption={t.history}
          columns={columns(instanceId === undefined)}
          rows={pages.flatMap(({ items }) => items)}
          rowKey={({ at, instanceId }) => `${at} ${instanceId}`}
          empty={<EmptyState icon={History} title={t.noHistory} />}
          paging={{
            hasMore: list.hasNextPage,
            isLoading: list.isFetchingNextPage,
            onMore: () => void list.fetchNextPage(),
          }}
        />
      )}
    </QueryView>
  );
}

function columns(namesCloud: boolean): Column<CloudTransition>[] {
  const t = texts.value;
  const all: (Column<CloudTransition> | false)[] = [
    { key: 'when', label: t.when, cell: ({ at }) => <Time value={at} /> },
    namesCloud && {
      key: 'cloud',
      label: t.cloud,
      cell: ({ instanceId, customerName }) => <a href={cloudPath(instanceId)}>{customerName}</a>,
    },
    {
      key: 'change',
      label: t.change,
      cell: ({ to }) => <Status kind={to === 'ok' ? 'ok' : 'error'}>{t.changes[to]}</Status>,
    },
    {
      key: 'reason',
      label: t.reason, // That it recovered, the change says.
      cell: ({ to, reason }) => to !== 'ok' && <Sentence>{reason}</Sentence>,
    },
  ];
  return all.filter((column) => column !== false);
}
