import {
  certificateFinding,
  type Evaluation,
  type Finding,
  fullness,
  hours,
  named,
  percentOf,
  plural,
  stateAbove,
  stateBelow,
  subscriptionFinding,
  unread,
  usagePercent,
  versionFinding,
  days,
} from './findings.ts';
import { cpuPercent, highestOf } from './history.ts';
import { limits } from './limits.ts';
import { DAY_SEC, HOUR_SEC, type Epoch, type ListAnswer, type RowAnswer } from './poll-answers.ts';
import { numberOf, type Row, sortedBy, textOf } from './rows.ts';
import type { NotExamined } from './servers.ts';
import { diskFindings, poolFindings } from './storage-health.ts';
import { longestGap, taskEnd } from './tasks.ts';

/** The newest backup of each group of a namespace. */
export interface GroupsAnswer {
  store: string;
  namespace: string;
  answer: ListAnswer;
}

/** Everything one poll of a backup server has read. */
export interface BackupReading {
  now: Epoch;
  version: string | null;
  certificateValidTo: Date | null;
  usage: readonly Row[];
  stores: ListAnswer;
  status: RowAnswer;
  collections: ListAnswer;
  verifications: ListAnswer;
  syncs: ListAnswer;
  prunes: ListAnswer;
  failedTasks: ListAnswer;
  /** The namespaces of each store. */
  namespaces: { store: string; answer: ListAnswer }[];
  groups: GroupsAnswer[];
  /** The snapshots of each store that failed their verification. */
  snapshots: { store: string; answer: ListAnswer }[];
  subscription: RowAnswer | undefined;
  updates: ListAnswer | undefined;
  disks: ListAnswer | undefined;
  pools: ListAnswer | undefined;
  /** Whether the account may see synchronization jobs; null if the server does not say. */
  maySeeSyncs: boolean | null;
  notExamined: NotExamined['items'];
}

export function evaluateBackup(reading: BackupReading): Evaluation {
  const { usage, stores, now } = reading;
  const rows = sortedBy(usage, 'store');
  const detail = new Map(('data' in stores ? stores.data : []).map((row) => [String(row['store']), row]));
  const groups = reading.groups.flatMap(({ answer }) => ('data' in answer ? answer.data : []));
  const findings = [
    ...('failure' in stores ? [unread('datastores', 'the list of datastores', stores)] : []),
    ...rows.flatMap((row) => storeFindings(row, detail.get(String(row['store'])), now)),
    ...hostFindings(reading.status),
    ...collectionFindings(reading, rows),
    ...verificationFindings(reading),
    ...syncFindings(reading),
    ...jobFindings('prune', 'prune job', reading.prunes, 'warning'),
    ...taskFindings(reading.failedTasks, now),
    ...reading.namespaces.flatMap(namespaceFindings),
    ...reading.groups.flatMap((one) => groupFindings(one, now)),
    ...(reading.disks ? diskFindings('host', 'the server', reading.disks) : []),
    ...(reading.pools ? poolFindings('host', 'the server', reading.pools) : []),
    ...subscriptionOf(reading),
    ...certificateFinding(reading.certificateValidTo, now),
    ...versionFinding('backup', reading.version, now),
  ];
  const fullest = highestOf(rows.map((row) => percentOf(numberOf(row['used']), numberOf(row['total']))));
  const host = 'data' in reading.status ? reading.status.data : {};
  const updates = reading.updates && 'data' in reading.updates ? reading.updates.data.length : null;
  return {
    findings,
    facts: [
      ...(reading.version === null ? [] : [{ key: 'version', label: 'Version', value: reading.version, unit: null }]),
      { key: 'datastores', label: 'Datastores', value: rows.length, unit: 'count' },
      ...(fullest === null
        ? []
        : [{ key: 'fullest', label: 'Fullest datastore', value: fullest, unit: 'percent' as const }]),
      ...(groups.length === 0
        ? []
        : [{ key: 'groups', label: 'Backup groups', value: groups.length, unit: 'count' as const }]),
      ...(updates === null ? [] : [{ key: 'updates', label: 'Updates', value: updates, unit: 'count' as const }]),
    ],
    figures: {
      cpu: cpuPercent([{ used: numberOf(host['cpu']), processors: 1 }]),
      memory: usagePercent(host, 'memory'),
      fullest,
    },
    summary: `${plural(rows.length, 'datastore')}${fullest === null ? '' : `, the fullest at ${fullest} %`}`,
    failure:
      rows.length === 0
        ? {
            class: 'rechte',
            message: 'The account sees no datastore at all: it lacks rights (`rechte`). It needs the role Audit on /.',
          }
        : null,
    notExamined: reading.notExamined,
  };
}

/** Old versions report a negative size if there is none. */
const sizeOf = (value: unknown): number | null => {
  const size = numberOf(value);
  return size === null || size < 0 ? null : size;
};

function storeFindings(row: Row, detail: Row | undefined, now: Epoch): Finding[] {
  const store = textOf(row['store']) ?? '?';
  const key = `datastore:${store}`;
  const error = textOf(row['error']);
  const mount = textOf(row['mount-status']) ?? textOf(detail?.['mount-status']);
  const maintenance = textOf(detail?.['maintenance']);
  const total = sizeOf(row['total']);
  if (mount === 'notmounted')
    return [{ key, state: 'ok', text: `Datastore ${store} is removable and not mounted at present.` }];
  if (maintenance !== null && (error !== null || total === null))
    return [{ key, state: 'warning', text: `Datastore ${store} is in maintenance (${maintenance}).` }];
  if (error !== null) return [{ key, state: 'critical', text: `Datastore ${store} cannot be used: ${error}` }];
  if (total === null)
    return [
      {
        key,
        state: 'unknown',
        text: `The server reports nothing about datastore ${store}: the account lacks the right Datastore.Audit on it (\`rechte\`).`,
      },
    ];
  const findings: Finding[] = [
    fullness(key, `datastore ${store}`, percentOf(sizeOf(row['used']), total), limits.storagePercent),
  ];
  if (maintenance !== null)
    findings.push({
      key: `${key}:maintenance`,
      state: 'warning',
      text: `Datastore ${store} is in maintenance (${maintenance}).`,
    });
  // A past time means "never". Without a time the server has too little data.
  const full = numberOf(row['estimated-full-date']);
  if (full !== null && full > now) {
    const left = days(full - now);
    findings.push({
      key: `${key}:full-in`,
      state: stateBelow(left, limits.fullInDays),
      value: left,
      text: `At this pace datastore ${store} is full in ${plural(left, 'day')}.`,
    });
  }
  return findings;
}

function hostFindings(answer: RowAnswer): Finding[] {
  if ('failure' in answer) return [unread('host', 'the status of the server', answer)];
  const percent = (field: string) => usagePercent(answer.data, field);
  const swap = percent('swap');
  return [
    fullness('host:memory', 'the memory', percent('memory'), limits.memoryPercent),
    fullness('host:root', 'the root file system', percent('root'), limits.rootPercent),
    ...(swap === null ? [] : [fullness('host:swap', 'the swap', swap, limits.swapPercent)]),
  ];
}

const isUnmounted = (row: Row): boolean => textOf(row['mount-status']) === 'notmounted';

function collectionFindings({ collections, usage, now }: BackupReading, stores: readonly Row[]): Finding[] {
  if ('failure' in collections) return [unread('gc', 'the garbage collection', collections)];
  const byStore = new Map(collections.data.map((row) => [String(row['store']), row]));
  const unmounted = new Set(usage.filter(isUnmounted).map(({ store }) => String(store)));
  return stores.flatMap((storeRow): Finding[] => {
    const store = textOf(storeRow['store']) ?? '?';
    const row = byStore.get(String(storeRow['store']));
    const key = `gc:${store}`;
    if (unmounted.has(String(storeRow['store']))) return [];
    if (!row)
      return [{ key, state: 'unknown', text: `The server does not report the garbage collection of ${store}.` }];
    const bad = numberOf(row['still-bad']) ?? 0;
    const findings: Finding[] =
      bad > 0
        ? [
            {
              key: `${key}:bad`,
              state: 'critical',
              value: bad,
              text: `Datastore ${store} holds ${plural(bad, 'bad chunk')}.`,
            },
          ]
        : [];
    const end = row['last-run-state'] === undefined ? null : taskEnd(row['last-run-state']);
    const ended = numberOf(row['last-run-endtime']);
    const schedule = textOf(row['schedule']);
    const next = numberOf(row['next-run']);
    const finding = (state: Finding['state'], text: string): Finding => ({
      key,
      state,
      text: `The garbage collection of ${store} ${text}`,
    });
    if (end === 'error') return [...findings, finding('critical', `failed: ${textOf(row['last-run-state']) ?? ''}`)];
    if (schedule === null) return [...findings, finding('warning', 'has no schedule.')];
    if (end === 'warning') return [...findings, finding('warning', 'ended with warnings.')];
    if (ended === null) return [...findings, finding('warning', 'has never run.')];
    if (now - ended > Math.max(limits.collectionDays * DAY_SEC, 2 * longestGap(schedule)))
      return [...findings, finding('warning', `last ran ${plural(days(now - ended), 'day')} ago.`)];
    if (next !== null && now - next > longestGap(schedule))
      return [...findings, finding('warning', 'has missed its scheduled run.')];
    return [
      ...findings,
      finding(end === 'unknown' ? 'unknown' : 'ok', end === 'unknown' ? 'ended with an unknown result.' : 'works.'),
    ];
  });
}

/** The jobs of one kind, each with the result of its last run. */
function jobFindings(kind: string, what: string, answer: ListAnswer, onError: 'warning' | 'critical'): Finding[] {
  if ('failure' in answer) return [unread(kind, `the ${what}s`, answer)];
  return sortedBy(answer.data, 'id').map((row): Finding => {
    const id = textOf(row['id']) ?? '?';
    const store = textOf(row['store']) ?? '?';
    const job = `${what} ${id} of ${store}`;
    const key = `${kind}:${id}`;
    if (row['last-run-state'] === undefined) return { key, state: 'ok', text: `The ${job} has not run yet.` };
    const end = taskEnd(row['last-run-state']);
    if (end === 'error')
      return { key, state: onError, text: `The ${job} failed: ${textOf(row['last-run-state']) ?? ''}` };
    if (end === 'warning') return { key, state: 'warning', text: `The ${job} ended with warnings.` };
    if (end === 'unknown') return { key, state: 'unknown', text: `The ${job} ended with an unknown result.` };
    return { key, state: 'ok', text: `The ${job} works.` };
  });
}

function verificationFindings({ verifications, snapshots }: BackupReading): Finding[] {
  const failed = snapshots.map(({ store, answer }): Finding => {
    const key = `snapshots:${store}`;
    if ('failure' in answer) return unread(key, `the snapshots of ${store}`, answer);
    const count = answer.data.length;
    return {
      key,
      state: count > 0 ? 'critical' : 'ok',
      value: count,
      text:
        count > 0
          ? `${plural(count, 'snapshot')} of ${store} failed verification: ${named(answer.data.map(snapshotName))}.`
          : `No snapshot of ${store} failed its verification.`,
    };
  });
  return [...jobFindings('verify', 'verification job', verifications, 'critical'), ...failed];
}

const snapshotName = (row: Row): string => `${textOf(row['backup-type']) ?? '?'}/${textOf(row['backup-id']) ?? '?'}`;

/** One failed synchronization is only a warning, because the cause may be the other side. */
function syncFindings({ syncs, maySeeSyncs }: BackupReading): Finding[] {
  if ('data' in syncs && syncs.data.length === 0 && maySeeSyncs !== true)
    return [
      {
        key: 'sync',
        state: 'unknown',
        text: 'No synchronization job is visible: there is none, or the account lacks the right Remote.Audit (`rechte`).',
      },
    ];
  return jobFindings('sync', 'synchronization job', syncs, 'critical').map((finding) =>
    finding.state === 'critical' ? { ...finding, needed: 2, meanwhile: 'warning' } : finding,
  );
}

function taskFindings(answer: ListAnswer, now: Epoch): Finding[] {
  if ('failure' in answer) return [unread('tasks', 'the failed tasks', answer)];
  const failed = answer.data.filter(
    (row) =>
      row['worker_type'] === 'backup' &&
      taskEnd(row['status']) === 'error' &&
      now - (numberOf(row['endtime']) ?? 0) <= limits.failedBackupHours * HOUR_SEC,
  );
  const [first] = failed.toSorted((a, b) => (numberOf(b['endtime']) ?? 0) - (numberOf(a['endtime']) ?? 0));
  return [
    {
      key: 'backup-tasks',
      state: stateAbove(failed.length, { warning: 1, critical: 1 }),
      value: failed.length,
      text: first
        ? `${plural(failed.length, 'backup')} failed within the last two days, most recently ${textOf(first['worker_id']) ?? '?'}: ${textOf(first['status']) ?? ''}`
        : 'No backup failed within the last two days.',
    },
  ];
}

/** Without the list, backups in namespaces go unchecked. Servers before 2.2 have no namespaces. */
function namespaceFindings({ store, answer }: BackupReading['namespaces'][number]): Finding[] {
  if ('data' in answer || answer.failure === 'antwortform') return [];
  return [unread(`namespaces:${store}`, `the list of namespaces of ${store}`, answer)];
}

/** Groups with an old newest backup. A group whose comment contains `no-monitor` is left out. */
function groupFindings({ store, namespace, answer }: GroupsAnswer, now: Epoch): Finding[] {
  const place = namespace === '' ? store : `${store}/${namespace}`;
  const key = `groups:${place}`;
  if ('failure' in answer) return [unread(key, `the backups in ${place}`, answer)];
  const ages = answer.data
    .filter((row) => !/no-monitor/i.test(textOf(row['comment']) ?? ''))
    .map((row) => ({ name: snapshotName(row), age: now - (numberOf(row['last-backup']) ?? Number.NaN) }))
    .toSorted((a, b) => b.age - a.age);
  if (ages.some(({ age }) => Number.isNaN(age)))
    return [{ key, state: 'unknown', text: `The server does not say how old the backups in ${place} are.` }];
  const oldest = hours(ages[0]?.age ?? 0);
  const late = ages.filter(({ age }) => age > limits.groupAgeHours.warning * HOUR_SEC);
  return [
    {
      key,
      state:
        oldest > limits.groupAgeHours.critical || ages.some(({ age }) => age > limits.groupAgeHours.critical * HOUR_SEC)
          ? 'critical'
          : late.length > 0
            ? 'warning'
            : 'ok',
      value: ages.length === 0 ? null : oldest,
      text:
        late.length > 0
          ? `The newest backup is older than ${limits.groupAgeHours.warning} hours for ${named(late.map(({ name, age }) => `${name} (${hours(age)} h)`))} in ${place}.`
          : `${plural(ages.length, 'group')} in ${place} ${ages.length === 1 ? 'is' : 'are'} backed up.`,
    },
  ];
}

const subscriptionOf = ({ subscription, now }: BackupReading): Finding[] => {
  if (!subscription) return [];
  if ('failure' in subscription) return [unread('subscription', 'the subscription', subscription)];
  return [subscriptionFinding('subscription', '', subscription.data, now)];
};
