import { RefreshCw } from 'lucide';
import { useState } from 'preact/hooks';
import type { TenderSource } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { RunProgress } from '../operations/run-progress.tsx';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';
import { me } from '../session.ts';
import { IconButton } from '../ui/button.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { nameIn, names } from './names.ts';
import { SourceState } from './sources-state.tsx';
import { texts } from './sources-texts.ts';

const queryKey = ['tenders', 'sources'] as const;
const intervalMs = 30_000;

const refresh = () => queryClient.invalidateQueries({ queryKey });

/** All sources of tenders with their state. The operator may read one at once. */
export function SourcesHealth() {
  const t = texts.value;
  const mayRun = me.value?.role === 'SUPER_ADMIN';
  const query = usePolled({
    queryKey,
    queryFn: ({ signal }) => portal.get('/tenders/sources', { signal }),
    intervalMs,
  });
  return (
    <Section title={t.health}>
      <QueryView query={query}>
        {(sources) => (
          <Table
            caption={t.health}
            columns={columnsOf(mayRun)}
            rows={sources}
            rowKey={({ key }) => key}
            empty={<EmptyState title={t.noSources} />}
          />
        )}
      </QueryView>
    </Section>
  );
}

function columnsOf(mayRun: boolean): Column<TenderSource>[] {
  const t = texts.value;
  const columns: Column<TenderSource>[] = [
    { key: 'name', label: t.source, cell: nameOf },
    { key: 'state', label: t.state, cell: (source) => <SourceState source={source} /> },
    { key: 'lastSuccess', label: t.lastSuccess, cell: ({ lastSuccessAt }) => <At value={lastSuccessAt} /> },
    { key: 'new', label: t.newCount, align: 'end', cell: ({ newCount }) => formatNumber(newCount, 0) },
  ];
  if (mayRun) columns.push({ key: 'run', label: '', cell: (source) => <Run source={source} /> });
  return columns;
}

const nameOf = ({ key, name }: TenderSource): string =>
  key.startsWith('rss:') ? name : nameIn(names.value.sources, key);

export const At = ({ value }: { value: string | null }) => (value ? <Time value={value} /> : <>{texts.value.never}</>);

/** Sources that nobody can start: the schedule reads the mailbox, and what is off or gone has nothing to read. */
const canRun = ({ key, state }: TenderSource): boolean => key !== 'mailbox' && state !== 'off' && state !== 'gone';

function Run({ source }: { source: TenderSource }) {
  const t = texts.value;
  const [runId, setRunId] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () => portal.post('/tenders/sources/{key}/run', { params: { path: { key: source.key } } }),
    onSuccess: (started) => {
      setRunId('runId' in started ? started.runId : started.id);
      return refresh();
    },
    onError: (error) => {
      if (isRunning(error)) showToast(t.alreadyRunning(nameOf(source)));
      void refresh();
    },
  });
  if (!canRun(source)) return null;
  return (
    <>
      <IconButton
        icon={RefreshCw}
        label={t.runOf(nameOf(source))}
        busy={start.isPending}
        onClick={() => start.mutate()}
      />
      {start.error && !isRunning(start.error) && <Refused error={start.error} />}
      {runId && <RunProgress key={runId} runId={runId} onEnd={() => void refresh()} />}
    </>
  );
}

const isRunning = (error: unknown): boolean => error instanceof PortalError && error.status === 409;

const Refused = ({ error }: { error: unknown }) => <Status kind="error">{useErrorText(error).text}</Status>;
