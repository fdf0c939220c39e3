import { collectDefaultMetrics, Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import { z } from 'zod';
import type { FailureClass } from '@portal/domain/failure-class';
import type { ObjectStoreFault } from './files/object-store-error.ts';
import type { QueueName } from './jobs/job.ts';
import { withTimeout } from './timeout.ts';

export interface QueueDepth {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/** Sources of figures that are read only on a scrape. */
export interface MetricsSources {
  pool(): { total: number; idle: number; waiting: number; max: number };
  queues(): Promise<Partial<Record<QueueName, QueueDepth>>>;
  /** Jobs that could not be handed to the queue since the process started. */
  lostNudges?(): number;
}

/** `released`: another worker continues it; `skipped`: its tenant is inactive, or its run is already finished. */
export type JobOutcome = 'succeeded' | 'failed' | 'retried' | 'released' | 'skipped';
export type MailOutcome = 'sent' | 'failed' | 'postponed' | 'skipped' | 'not_configured' | 'quota';
export type SignInOutcome = 'succeeded' | 'failed' | 'throttled' | 'directory_unreachable';

/** The outcome of a cloud check: it was reached, or why not. */
export type CheckOutcome = 'ok' | FailureClass;

/** Problems of the table of cloud releases. */
export type ReleaseTableTrouble = 'outdated' | 'unreadable';

/** The API's load limits: see `apps/api/src/plugins/load.ts`. */
export type LoadBound = 'account' | 'address' | 'process' | 'watch' | 'connections' | 'pipeline' | 'reader';

export interface Metrics {
  /** `route` is the pattern, not the path: one series per route. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  countJob(job: string, outcome: JobOutcome, seconds: number): void;
  countMail(kind: string, outcome: MailOutcome): void;
  countSignIn(outcome: SignInOutcome): void;
  countLoad(bound: LoadBound): void;
  countCheck(outcome: CheckOutcome): void;
  countStoreFault(fault: ObjectStoreFault): void;
  setReleaseTableTrouble(trouble: ReleaseTableTrouble, isSo: boolean): void;
  /** `outcome` is `read`, `dropped` if the server was edited meanwhile, or the failure class. */
  countPoll(kind: string, outcome: string): void;
  /** `outcome` is the initial state of an invoice, or `known` for a document that is already stored. */
  countInvoice(format: string, outcome: string): void;
  /** `source` is one of the settings, `rss` for all feeds together, or `mailbox` for all alert mailboxes. */
  countTenderNotices(source: string, outcome: string, notices: number): void;
  countTenderMatches(matches: number): void;
  /** Prometheus text of this process and, if given, of the `json()` of other processes. */
  render(extra?: unknown[]): Promise<{ contentType: string; body: string }>;
  json(): Promise<unknown[]>;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const jobSecondsBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

/** A scrape must not hang on an unreachable queue. */
const queueTimeoutMs = 500;

const Family = z.object({
  name: z.string(),
  help: z.string(),
  type: z.string(),
  values: z.array(
    z.object({
      value: z.number().nullable(),
      labels: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
      metricName: z.string().optional(),
    }),
  ),
});
type Family = z.infer<typeof Family>;

/** The process's metrics for operators; every series has the label `process`. */
export function openMetrics(process: 'api' | 'worker' | 'script', sources: MetricsSources): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  const registers = [registry];
  for (const metric of nodeMetrics(process)) registry.registerMetric(metric);

  const requests = new Histogram({
    name: 'portal_http_request_seconds',
    help: 'Time from request to answer, by route pattern',
    labelNames: ['method', 'route', 'status'],
    buckets: secondsBuckets,
    registers,
  });
  const jobs = new Histogram({
    name: 'portal_job_seconds',
    help: 'Run time of jobs, by outcome',
    labelNames: ['job', 'outcome'],
    buckets: jobSecondsBuckets,
    registers,
  });
  const mails = new Counter({
    name: 'portal_mails_total',
    help: 'Attempts to deliver a mail, by kind and outcome',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const polls = new Counter({
    name: 'portal_polls_total',
    help: 'Polls of monitored servers, by kind and outcome',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const invoices = new Counter({
    name: 'portal_invoices_total',
    help: 'Invoices received by mail, by format and outcome',
    labelNames: ['format', 'outcome'],
    registers,
  });
  const tenderNotices = new Counter({
    name: 'portal_tender_notices_total',
    help: 'Tender notices read from sources, by source and outcome',
    labelNames: ['source', 'outcome'],
    registers,
  });
  const tenderMatches = new Counter({
    name: 'portal_tender_matches_total',
    help: 'Tenders found by saved searches',
    registers,
  });
  const storeFaults = new Counter({
    name: 'portal_object_store_faults_total',
    help: 'Calls of the object store for files that failed for good, by fault',
    labelNames: ['fault'],
    registers,
  });
  const signIns = new Counter({
    name: 'portal_sign_ins_total',
    help: 'Attempts to sign in, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const bounds = new Counter({
    name: 'portal_http_bounds_total',
    help: 'Requests refused and connections closed, by limit: too much at once, or an answer that the client does not read',
    labelNames: ['bound'],
    registers,
  });
  const checks = new Counter({
    name: 'portal_checks_total',
    help: 'Checks of cloud instances, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const releaseTable = new Gauge({
    name: 'portal_cloud_releases_trouble',
    help: '1 while the table of cloud releases is older than 60 days, or its file cannot be read and an earlier one is used',
    labelNames: ['trouble'],
    registers,
  });
  new Counter({
    name: 'portal_lost_nudges_total',
    help: 'Jobs that could not be handed to the queue; a sweep finds their rows',
    registers,
    collect() {
      this.reset();
      this.inc(sources.lostNudges?.() ?? 0);
    },
  });
  new Gauge({
    name: 'portal_queue_jobs',
    help: 'Jobs in each queue by state; absent while the queue cannot be reached',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      const depths = await withTimeout(sources.queues(), queueTimeoutMs).catch(() => null);
      for (const [queue, depth] of Object.entries(depths ?? {})) {
        for (const [state, count] of Object.entries(depth)) this.set({ queue, state }, Number(count));
      }
    },
  });
  new Gauge({
    name: 'portal_database_connections',
    help: 'Database connections of the process by state; `wanted` is the number of waiting callers',
    labelNames: ['state'],
    registers,
    collect() {
      const pool = sources.pool();
      this.set({ state: 'busy' }, pool.total - pool.idle);
      this.set({ state: 'idle' }, pool.idle);
      this.set({ state: 'wanted' }, pool.waiting);
      this.set({ state: 'allowed' }, pool.max);
    },
  });

  return {
    observeRequest: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    countJob: (job, outcome, seconds) => jobs.observe({ job, outcome }, seconds),
    countMail: (kind, outcome) => mails.inc({ kind, outcome }),
    countSignIn: (outcome) => signIns.inc({ outcome }),
    countLoad: (bound) => bounds.inc({ bound }),
    countCheck: (outcome) => checks.inc({ outcome }),
    countStoreFault: (fault) => storeFaults.inc({ fault }),
    setReleaseTableTrouble: (trouble, isSo) => releaseTable.set({ trouble }, isSo ? 1 : 0),
    countPoll: (kind, outcome) => polls.inc({ kind, outcome }),
    countInvoice: (format, outcome) => invoices.inc({ format, outcome }),
    countTenderNotices(source, outcome, notices) {
      if (notices > 0) tenderNotices.inc({ source, outcome }, notices);
    },
    countTenderMatches: (matches) => tenderMatches.inc(matches),
    async render(extra) {
      if (!extra || extra.length === 0) return { contentType: registry.contentType, body: await registry.metrics() };
      return {
        contentType: registry.contentType,
        body: await renderTogether([await registry.getMetricsAsJSON(), extra]),
      };
    },
    json: () => registry.getMetricsAsJSON(),
  };
}

const nodeRegistries = new Map<string, Registry>();

/**
 * Memory, event loop and garbage collection as Node.js reports them. All runtimes of a process share them, because their timer and their
 * observer never end. A registry writes its label `process` into their values, so each label has metrics of its own.
 */
function nodeMetrics(process: string): Metric[] {
  let registry = nodeRegistries.get(process);
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
    nodeRegistries.set(process, registry);
  }
  return registry.getMetricsAsArray() as unknown as Metric[];
}

/**
 * Merges the metric families of several processes into one text. The label `process` keeps their series apart. A Prometheus text may
 * contain each metric name only once, so the values of a family are merged under one heading.
 */
function renderTogether(processes: unknown[][]): Promise<string> {
  const families = new Map<string, Family>();
  for (const given of processes.flat()) {
    const parsed = Family.safeParse(given);
    if (!parsed.success) continue;
    // Leaves out values that are no number (NaN becomes null in JSON).
    const values = parsed.data.values.filter(({ value }) => value !== null);
    const known = families.get(parsed.data.name);
    if (known) known.values.push(...values);
    else families.set(parsed.data.name, { ...parsed.data, values });
  }
  const merged = new Registry();
  // The registry only uses the name and `get` of a metric.
  for (const family of families.values())
    merged.registerMetric({ name: family.name, get: async () => family } as unknown as Metric);
  return merged.metrics();
}
