import { CircleCheck, ExternalLink, SearchX } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Job } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { compareText, formatNumber } from '../language.ts';
import { usePolled } from '../polling.ts';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Form } from '../ui/form.tsx';
import { Card, Page, Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status, type StatusKind } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { isProblem, jobState, kindOf, type QueueFigures, queuesOf, workerState } from './job-state.ts';
import { durationText, jobName, queueName, scheduleText } from './job-words.ts';
import { RunProgress } from './run-progress.tsx';
import { texts } from './texts.ts';

const path = '/app/admin/jobs';
const pollMs = 5_000;
const filters = ['all', 'problems'] as const;

/** Background work. The address says which jobs are listed (`?search=`, `?show=`), and may look up a run (`?run=`). */
export function JobsPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const jobs = usePolled({
    queryKey: ['operations', 'jobs'],
    queryFn: ({ signal }) => portal.get('/admin/jobs', { signal }),
    intervalMs: pollMs,
  });
  const show = (change: Record<string, string>) => go(addressOf(path, { ...params, ...change }), true);
  return (
    <Page
      title={pageNames.value.jobs}
      intro={t.intro}
      actions={
        <LinkButton href={boardOf()} target="_blank" icon={ExternalLink}>
          {t.board}
        </LinkButton>
      }
    >
      <Health jobs={jobs.data} checkedAtMs={jobs.dataUpdatedAt} />
      <QueryView query={jobs}>
        {(all) => (
          <>
            <Section title={t.queuesTitle}>
              <Table
                caption={t.queuesTitle}
                columns={queueColumns()}
                rows={queuesOf(all)}
                rowKey={({ queue }) => queue}
                empty={null}
              />
            </Section>
            <Jobs jobs={all} nowMs={jobs.dataUpdatedAt} params={params} onShow={show} />
          </>
        )}
      </QueryView>
      <RunLookup runId={params['run'] ?? ''} onLookUp={(run) => show({ run })} />
    </Page>
  );
}

/** The board of the queues, in a new tab because it is no page of the front end. */
const boardOf = (queue?: string): string =>
  queue === undefined ? '/admin/queues' : addressOf(`/admin/queues/queue/${queue}`, { status: 'failed' });

function Health({ jobs, checkedAtMs }: { jobs: readonly Job[] | undefined; checkedAtMs: number }) {
  const t = texts.value;
  const readiness = usePolled({
    queryKey: ['operations', 'readiness'],
    queryFn: ({ signal }) => portal.get('/health/ready', { signal }),
    intervalMs: pollMs,
  });
  const worker = jobs ? workerState(jobs, checkedAtMs) : 'unknown';
  return (
    <Card title={t.health}>
      <QueryView query={readiness}>
        {({ checks }) => (
          <>
            <Table
              caption={t.health}
              columns={checkColumns()}
              rows={[
                reachability(t.database, checks.database),
                reachability(t.queue, checks.queue),
                { what: t.worker, kind: workerKinds[worker], words: t.workerStates[worker] },
              ]}
              rowKey={({ what }) => what}
              empty={null}
            />
            <div role="status">
              {checks.queue === 'unreachable' && <p>{t.queueAway}</p>}
              {worker === 'standing' && <p>{t.standingStillText}</p>}
            </div>
          </>
        )}
      </QueryView>
    </Card>
  );
}

const workerKinds = { working: 'ok', standing: 'error', unknown: 'unknown' } as const;

interface Check {
  what: string;
  kind: StatusKind;
  words: string;
}

function checkColumns(): Column<Check>[] {
  const t = texts.value;
  return [
    { key: 'what', label: t.health, cell: ({ what }) => what },
    { key: 'state', label: t.state, cell: ({ kind, words }) => <Status kind={kind}>{words}</Status> },
  ];
}

function reachability(what: string, state: 'ok' | 'unreachable'): Check {
  const t = texts.value;
  return { what, kind: state === 'ok' ? 'ok' : 'error', words: state === 'ok' ? t.reachable : t.unreachable };
}

function queueColumns(): Column<QueueFigures>[] {
  const t = texts.value;
  return [
    { key: 'queue', label: t.queueColumn, cell: ({ queue }) => queueName(queue) },
    { key: 'waiting', label: t.waiting, align: 'end', cell: ({ waiting }) => formatNumber(waiting) },
    { key: 'active', label: t.active, align: 'end', cell: ({ active }) => formatNumber(active) },
    {
      key: 'failed',
      label: t.failed,
      align: 'end',
      cell: ({ queue, failed }) =>
        failed === 0 ? (
          formatNumber(failed)
        ) : (
          <a
            href={boardOf(queue)}
            target="_blank"
            rel="noreferrer"
            aria-label={t.failedOf(queueName(queue), formatNumber(failed))}
          >
            {formatNumber(failed)}
          </a>
        ),
    },
  ];
}

interface JobsProps {
  jobs: readonly Job[];
  nowMs: number;
  params: Readonly<Record<string, string>>;
  onShow: (change: Record<string, string>) => void;
}

function Jobs({ jobs, nowMs, params, onShow }: JobsProps) {
  const t = texts.value;
  const { search = '' } = params;
  const shown = filters.find((one) => one === params['show']) ?? 'all';
  const found = jobs.filter((job) => matches(job, search) && (shown === 'all' || isProblem(jobState(job, nowMs))));
  return (
    <Section title={t.jobsTitle}>
      <FilterBar label={t.filters}>
        <TextField
          label={t.search}
          name="search"
          type="search"
          value={search}
          onInput={(value) => onShow({ search: value })}
        />
        <SelectField
          label={t.show}
          name="show"
          value={shown}
          onChange={(value) => onShow({ show: value === 'all' ? '' : value })}
          options={filters.map((value) => ({ value, label: t.filter[value] }))}
        />
      </FilterBar>
      <Table
        caption={t.jobsTitle}
        columns={jobColumns(nowMs)}
        rows={found}
        rowKey={({ name }) => name}
        empty={
          search === '' ? (
            <EmptyState icon={CircleCheck} title={t.noProblems} />
          ) : (
            <EmptyState
              icon={SearchX}
              title={t.noMatch}
              action={<Button onClick={() => onShow({ search: '', show: '' })}>{t.showAll}</Button>}
            />
          )
        }
      />
    </Section>
  );
}

const matches = ({ name, queue }: Job, search: string): boolean =>
  `${jobName(name)} ${name} ${queueName(queue)}`.toLocaleLowerCase().includes(search.trim().toLocaleLowerCase());

function jobColumns(nowMs: number): Column<Job>[] {
  const t = texts.value;
  return [
    {
      key: 'job',
      label: t.job,
      sort: (a, b) => compareText(jobName(a.name), jobName(b.name)),
      cell: ({ name }) => <span title={name}>{jobName(name)}</span>,
    },
    {
      key: 'state',
      label: t.state,
      sort: (a, b) => severity(b, nowMs) - severity(a, nowMs),
      cell: (job) => <State job={job} nowMs={nowMs} />,
    },
    { key: 'schedule', label: t.schedule, hideOnCard: true, cell: ({ schedule }) => scheduleText(schedule) },
    {
      key: 'lastRun',
      label: t.lastRun,
      sort: (a, b) => (a.lastRunAt ?? '').localeCompare(b.lastRunAt ?? ''),
      cell: ({ lastRunAt, lastDurationMs }) =>
        lastRunAt === null ? (
          t.noTime
        ) : (
          <>
            <Time value={lastRunAt} style="relative" />
            {lastDurationMs !== null && ` ${t.took(durationText(lastDurationMs))}`}
          </>
        ),
    },
    {
      key: 'nextRun',
      label: t.nextRun,
      hideOnCard: true,
      cell: ({ nextRunAt }) => (nextRunAt === null ? t.noTime : <Time value={nextRunAt} style="relative" />),
    },
    { key: 'waiting', label: t.waiting, align: 'end', cell: ({ waiting }) => formatNumber(waiting) },
    { key: 'active', label: t.active, align: 'end', cell: ({ active }) => formatNumber(active) },
    { key: 'failed', label: t.failed, align: 'end', cell: ({ failed }) => formatNumber(failed) },
  ];
}

const severityOf = { error: 3, warning: 2, info: 1, ok: 0, unknown: 0 };
const severity = (job: Job, nowMs: number): number => severityOf[kindOf[jobState(job, nowMs)]];

function State({ job, nowMs }: { job: Job; nowMs: number }) {
  const t = texts.value;
  const state = jobState(job, nowMs);
  const { lastFailure } = job;
  const hasReason = job.failed > 0 || state === 'failed';
  return (
    <>
      <Status kind={kindOf[state]}>{t.states[state]}</Status>{' '}
      {hasReason && (
        <a href={boardOf(job.queue)} target="_blank" rel="noreferrer">
          {t.reason}
        </a>
      )}
      {hasReason && lastFailure && (
        <p class={profile.note}>
          <Time value={lastFailure.at} style="relative" />: <span lang="en">{lastFailure.reason}</span>
        </p>
      )}
    </>
  );
}

/** Shows how a run goes whose id the operator knows. */
function RunLookup({ runId, onLookUp }: { runId: string; onLookUp: (runId: string) => void }) {
  const t = texts.value;
  const [typed, setTyped] = useState(runId);
  return (
    <Card title={t.runTitle}>
      <Form
        label={t.runTitle}
        onSubmit={() => onLookUp(typed.trim())}
        actions={<Button type="submit">{t.lookUp}</Button>}
      >
        <TextField label={t.runId} name="run" value={typed} onInput={setTyped} hint={t.runHint} autocomplete="off" />
      </Form>
      {runId !== '' && <RunProgress key={runId} runId={runId} />}
    </Card>
  );
}
