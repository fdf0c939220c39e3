import { shownLine } from '../text.ts';
import {
  certificateFinding,
  type Evaluation,
  type Fact,
  type Finding,
  fullness,
  hours,
  named,
  percentOf,
  plural,
  stateAbove,
  subscriptionFinding,
  unread,
  versionFinding,
} from './findings.ts';
import { type GuestCache, guestKey, type GuestPlan } from './guest-lookups.ts';
import { cpuPercent, highestOf } from './history.ts';
import { limits } from './limits.ts';
import { DAY_SEC, HOUR_SEC, dataOf, type Epoch, type ListAnswer, type RowAnswer } from './poll-answers.ts';
import { flagOf, numberOf, type Row, sortedBy, textOf } from './rows.ts';
import type { NotExamined, ServerState } from './servers.ts';
import { diskFindings, poolFindings } from './storage-health.ts';
import { longestGap, taskEnd } from './tasks.ts';

/** Answers to the follow-up questions about a node. A question without an answer so far is missing. */
export interface NodeAnswers {
  status?: RowAnswer;
  subscription?: RowAnswer;
  backups?: ListAnswer;
  replication?: ListAnswer;
  disks?: ListAnswer;
  pools?: ListAnswer;
  certificates?: ListAnswer;
}

/** Everything one poll of a virtualization server has read. */
export interface VirtualizationReading {
  now: Epoch;
  version: string | null;
  certificateValidTo: Date | null;
  members: ListAnswer;
  resources: readonly Row[];
  tasks: ListAnswer;
  jobs: ListAnswer;
  unbacked: ListAnswer;
  availability: ListAnswer;
  nodes: Record<string, NodeAnswers>;
  guests: GuestPlan;
  /** What is known about stopped guests. */
  known: GuestCache;
  /** Whether the account may see guests; null if the server does not say. */
  maySeeGuests: boolean | null;
  notExamined: NotExamined['items'];
}

/** The fields of a resource that the rules read. */
export const resourceFields =
  'id type node name status cpu maxcpu mem maxmem disk maxdisk storage shared content vmid template lock tags hastate'.split(
    ' ',
  );

/** Several times the size of any cluster. Each node adds questions and rules. */
export const maxNodes = 500;

export const nodesOf = (resources: readonly Row[]): Row[] =>
  sortedBy(
    resources.filter(({ type }) => type === 'node'),
    'node',
  );

/** Nodes that are not offline. An offline node would delay every question to it by half a minute. */
export function onlineNodes(resources: readonly Row[], members: ListAnswer): string[] {
  const offline = new Set(
    (dataOf(members) ?? []).filter((row) => row['type'] === 'node' && flagOf(row['online']) === false).map(nameOf),
  );
  return nodesOf(resources)
    .filter((row) => row['status'] === 'online')
    .map((row) => String(row['node']))
    .filter((node) => !offline.has(node));
}

const nameOf = (row: Row): string => textOf(row['name']) ?? textOf(row['node']) ?? '?';
export const isGuest = ({ type }: Row): boolean => type === 'qemu' || type === 'lxc';
const isTemplate = (row: Row): boolean => flagOf(row['template']) === true;

export function evaluateVirtualization(reading: VirtualizationReading): Evaluation {
  const { resources, members, now } = reading;
  const nodes = nodesOf(resources);
  const guests = resources.filter((row) => isGuest(row) && !isTemplate(row));
  const running = guests.filter(({ status }) => status === 'running');
  const online = new Set(onlineNodes(resources, members));
  const summary = `${online.size} of ${plural(nodes.length, 'node')} online, ${running.length} of ${plural(guests.length, 'guest')} running`;
  const stores = storageFindings(resources, online);
  const findings = [
    ...clusterFindings(members),
    ...nodes.flatMap((row) => nodeFindings(row, reading, online)),
    ...stores,
    ...guestFindings(reading, online),
    ...backupFindings(reading, online),
    ...availabilityFindings(reading, online),
    ...taskFindings(reading.tasks, now),
    ...certificateFinding(reading.certificateValidTo, now),
    ...versionFinding('virtualization', reading.version, now),
  ];
  const nothing = nodes.length === 0;
  const memory = memoryPercent(nodes);
  return {
    findings,
    facts: [
      ...(reading.version === null ? [] : [fact('version', 'Version', reading.version, null)]),
      fact('nodes', 'Nodes online', online.size, 'count'),
      fact('nodesTotal', 'Nodes', nodes.length, 'count'),
      fact('guestsRunning', 'Guests running', running.length, 'count'),
      fact('guests', 'Guests', guests.length, 'count'),
      ...(memory === null ? [] : [fact('memory', 'Memory in use', memory, 'percent')]),
    ],
    figures: {
      // An offline node reports neither, and is no reason to keep nothing of the others.
      cpu: cpuPercent(nodes.map((row) => ({ used: numberOf(row['cpu']), processors: numberOf(row['maxcpu']) }))),
      memory: memoryPercent(nodes.filter((row) => online.has(String(row['node'])))),
      fullest: highestOf(stores.map(({ value = null }) => value)),
      guests: guests.length > 0 || reading.maySeeGuests === true ? running.length : null,
    },
    summary,
    failure: nothing
      ? {
          class: 'rechte',
          message: 'The account sees no node at all: it lacks rights (`rechte`). It needs the role PVEAuditor on /.',
        }
      : null,
    notExamined: [
      ...reading.notExamined,
      ...reading.guests.left.map((row) => ({
        what: `Guest ${guestName(row)}`,
        why: 'whether it should run has not been looked up yet',
      })),
    ],
  };
}

const fact = (key: string, label: string, value: number | string, unit: Fact['unit']): Fact => ({
  key,
  label,
  value,
  unit,
});

/** The memory in use on all nodes; null if a node does not report it. */
function memoryPercent(nodes: readonly Row[]): number | null {
  const sum = (field: string) => nodes.reduce((all, row) => all + (numberOf(row[field]) ?? Number.NaN), 0);
  const percent = percentOf(sum('mem'), sum('maxmem'));
  return percent === null || Number.isNaN(percent) ? null : percent;
}

function clusterFindings(members: ListAnswer): Finding[] {
  if ('failure' in members) return [unread('quorum', 'the state of the cluster', members)];
  const cluster = members.data.find(({ type }) => type === 'cluster');
  // A single host has no quorum to lose.
  if (!cluster) return [];
  const quorate = flagOf(cluster['quorate']);
  if (quorate === null)
    return [{ key: 'quorum', state: 'unknown', text: 'The cluster does not say whether it has a quorum.' }];
  return [
    quorate
      ? { key: 'quorum', state: 'ok', text: 'The cluster has its quorum.' }
      : { key: 'quorum', state: 'critical', text: 'The cluster has lost its quorum.' },
  ];
}

function nodeFindings(row: Row, reading: VirtualizationReading, online: ReadonlySet<string>): Finding[] {
  const node = nameOf(row);
  const key = `node:${node}`;
  if (!online.has(node)) {
    const isKnown = row['status'] === 'offline' || row['status'] === 'online';
    return [
      isKnown
        ? { key, state: 'critical', text: `Node ${node} is offline.` }
        : { key, state: 'unknown', text: `The cluster does not know the state of node ${node}.` },
    ];
  }
  const { status, subscription, replication, disks, pools, certificates } = reading.nodes[node] ?? {};
  const memory = percentOf(numberOf(row['mem']), numberOf(row['maxmem']));
  const findings: Finding[] = [
    { key, state: 'ok', text: `Node ${node} is online.` },
    fullness(`${key}:memory`, `the memory of ${node}`, memory, limits.memoryPercent),
    fullness(
      `${key}:root`,
      `the root file system of ${node}`,
      percentOf(numberOf(row['disk']), numberOf(row['maxdisk'])),
      limits.rootPercent,
    ),
  ];
  if (status && 'failure' in status) findings.push(unread(`${key}:swap`, `the status of ${node}`, status));
  else if (status) {
    const swap = (status.data['swap'] ?? {}) as Row;
    const percent = percentOf(numberOf(swap['used']), numberOf(swap['total']));
    // A node without swap has no finding.
    if (percent !== null) findings.push(fullness(`${key}:swap`, `the swap of ${node}`, percent, limits.swapPercent));
  }
  if (subscription)
    findings.push(
      'failure' in subscription
        ? unread(`${key}:subscription`, `the subscription of ${node}`, subscription)
        : subscriptionFinding(`${key}:subscription`, ` of ${node}`, subscription.data, reading.now),
    );
  if (replication) findings.push(...replicationFindings(key, node, replication));
  if (disks) findings.push(...diskFindings(key, node, disks));
  if (pools) findings.push(...poolFindings(key, node, pools));
  if (certificates) findings.push(...nodeCertificate(key, node, certificates, reading.now));
  return findings;
}

/** The certificate of a node, even if only its cluster can reach the node. An uploaded certificate replaces the node’s own. */
function nodeCertificate(key: string, node: string, answer: ListAnswer, now: Epoch): Finding[] {
  const certificate = { key: `${key}:certificate`, suffix: ` of ${node}` };
  if ('failure' in answer) return [unread(certificate.key, `the certificate of ${node}`, answer)];
  const inFile = (name: string) => answer.data.find(({ filename }) => filename === name);
  const until = numberOf((inFile('pveproxy-ssl.pem') ?? inFile('pve-ssl.pem'))?.['notafter']);
  const found = until === null ? [] : certificateFinding(new Date(until * 1_000), now, certificate);
  if (found.length > 0) return found;
  const text = `The server does not say when the certificate of ${node} expires.`;
  return [{ key: certificate.key, state: 'unknown', value: null, text }];
}

function replicationFindings(key: string, node: string, answer: ListAnswer): Finding[] {
  if ('failure' in answer) return [unread(`${key}:replication`, `the replication of ${node}`, answer)];
  return sortedBy(answer.data, 'id').map((row): Finding => {
    const id = textOf(row['id']) ?? '?';
    const fails = numberOf(row['fail_count']) ?? 0;
    const error = textOf(row['error']);
    const one = { key: `replication:${id}`, value: fails };
    if (error !== null) return { ...one, state: 'critical', text: `Replication ${id} fails: ${error}` };
    if (fails > 0) return { ...one, state: 'warning', text: `Replication ${id} failed ${plural(fails, 'time')}.` };
    return { ...one, state: 'ok', text: `Replication ${id} works.` };
  });
}

function storageFindings(resources: readonly Row[], online: ReadonlySet<string>): Finding[] {
  const rows = sortedBy(
    resources.filter(({ type }) => type === 'storage'),
    'id',
  );
  if (rows.length === 0 && online.size > 0)
    return [
      {
        key: 'storages',
        state: 'unknown',
        text: 'No storage is visible: the account lacks the right Datastore.Audit (`rechte`).',
      },
    ];
  // A shared storage is listed once per node.
  const byName = new Map<string, Row[]>();
  for (const row of rows) {
    if (!online.has(String(row['node']))) continue;
    const name = textOf(row['storage']) ?? '?';
    const place = flagOf(row['shared']) === true ? name : `${name} on ${String(textOf(row['node']))}`;
    const same = byName.get(place);
    if (same) same.push(row);
    else byName.set(place, [row]);
  }
  return [...byName].map(([place, same]): Finding => {
    const key = `storage:${place}`;
    const unavailable = same.filter((row) => row['status'] !== 'available');
    if (unavailable.length > 0) {
      const content = textOf(unavailable[0]?.['content']) ?? '';
      const holdsData = /\b(backup|images|rootdir)\b/.test(content);
      return {
        key,
        state: holdsData ? 'critical' : 'warning',
        text: `Storage ${place} is not available${holdsData ? ', and it holds guests or backups' : ''}.`,
      };
    }
    const best = same.find((row) => (numberOf(row['maxdisk']) ?? 0) > 0) ?? same[0] ?? {};
    // Some storages report no size.
    if (numberOf(best['maxdisk']) === 0) return { key, state: 'ok', text: `Storage ${place} is available.` };
    const percent = percentOf(numberOf(best['disk']), numberOf(best['maxdisk']));
    return fullness(key, `storage ${place}`, percent, limits.storagePercent);
  });
}

const guestName = (row: Row): string => {
  const name = textOf(row['name']);
  return `${textOf(row['vmid']) ?? '?'}${name === null ? '' : ` (${shownLine(name, 60)})`}`;
};

function guestFindings(reading: VirtualizationReading, online: ReadonlySet<string>): Finding[] {
  const { resources, known, guests: plan } = reading;
  const guests = resources.filter(isGuest);
  if (guests.length === 0)
    return [
      reading.maySeeGuests === true
        ? { key: 'guests', state: 'ok', value: 0, text: 'There are no guests.' }
        : {
            key: 'guests',
            state: 'unknown',
            text: 'No guest is visible: there is none, or the account lacks the right VM.Audit (`rechte`).',
          },
    ];
  const left = new Set(plan.left.map(guestKey));
  const unclear: string[] = [];
  const stopped: Finding[] = [];
  for (const row of guests) {
    if (isTemplate(row) || row['status'] === 'running' || !online.has(String(row['node']))) continue;
    if (row['status'] === 'unknown') unclear.push(guestName(row));
    const isBusy = ['backup', 'snapshot', 'migrate'].includes(textOf(row['lock']) ?? '');
    const cached = known[guestKey(row)];
    if (left.has(guestKey(row)) || isBusy || !cached?.onboot || reading.now - cached.readAt > DAY_SEC) continue;
    const isProduction = (textOf(row['tags']) ?? '').split(/[;, ]+/).includes('prod');
    stopped.push({
      key: `guest:${textOf(row['vmid']) ?? '?'}`,
      state: isProduction ? 'critical' : 'warning',
      needed: 2,
      text: `Guest ${guestName(row)} should run but does not.`,
    });
  }
  const running = guests.filter(({ status }) => status === 'running').length;
  const all: Finding =
    unclear.length > 0
      ? { key: 'guests', state: 'unknown', value: unclear.length, text: `The state of ${named(unclear)} is not known.` }
      : {
          key: 'guests',
          state: 'ok',
          value: running,
          text: `${running} of ${plural(guests.length, 'guest is', 'guests are')} running.`,
        };
  return [all, ...stopped];
}

function backupFindings(reading: VirtualizationReading, online: ReadonlySet<string>): Finding[] {
  const { jobs, unbacked, now } = reading;
  const findings: Finding[] = [];
  if ('failure' in unbacked) findings.push(unread('unbacked', 'the list of guests without a backup job', unbacked));
  else {
    const templates = new Set(reading.resources.filter(isTemplate).map(({ vmid }) => String(vmid)));
    const names = sortedBy(unbacked.data, 'vmid')
      .filter(({ vmid }) => !templates.has(String(vmid)))
      .map(guestName);
    findings.push(
      names.length === 0
        ? { key: 'unbacked', state: 'ok', value: 0, text: 'Every guest is in a backup job.' }
        : {
            key: 'unbacked',
            state: 'warning',
            value: names.length,
            text: `${plural(names.length, 'guest is', 'guests are')} in no backup job: ${named(names)}.`,
          },
    );
  }
  if ('failure' in jobs) return [...findings, unread('backup-jobs', 'the backup jobs', jobs)];
  const answers = [...online].map((node) => [node, reading.nodes[node]?.backups] as const);
  for (const [node, answer] of answers) {
    if (answer && 'failure' in answer) findings.push(unread(`backups:${node}`, `the backups of ${node}`, answer));
    else if (answer) findings.push(...lastBackups(node, answer.data, now));
  }
  const enabled = jobs.data.filter((row) => flagOf(row['enabled']) !== false);
  const isRead = answers.every(([, answer]) => answer !== undefined && 'data' in answer);
  if (enabled.length === 0 || !isRead) return findings;
  return [
    ...findings,
    overdue(
      enabled,
      answers.flatMap(([, answer]) => dataOf(answer) ?? []),
      now,
    ),
  ];
}

/** The newest finished backup of each node and job. */
function lastBackups(node: string, tasks: readonly Row[], now: Epoch): Finding[] {
  const newest = new Map<string, Row>();
  for (const row of tasks) {
    const end = numberOf(row['endtime']);
    const id = textOf(row['id']) ?? '';
    if (end === null || taskEnd(row['status']) === 'running') continue;
    if (end > (numberOf(newest.get(id)?.['endtime']) ?? -1)) newest.set(id, row);
  }
  const bad = [...newest.values()].filter(
    (row) =>
      now - (numberOf(row['endtime']) ?? 0) <= limits.lastBackupHours * HOUR_SEC && taskEnd(row['status']) !== 'ok',
  );
  const state: ServerState = bad.some((row) => taskEnd(row['status']) === 'error')
    ? 'critical'
    : bad.some((row) => taskEnd(row['status']) === 'warning')
      ? 'warning'
      : bad.length > 0
        ? 'unknown'
        : 'ok';
  const [first] = bad;
  return [
    {
      key: `backups:${node}`,
      state,
      value: bad.length,
      text: first
        ? `The last backup on ${node} ended with: ${textOf(first['status']) ?? 'an unknown result'}.`
        : `The last backups on ${node} went well.`,
    },
  ];
}

/** Whether backups run at all. The limit is the longest pause of the most frequent job, plus two hours. */
function overdue(jobs: readonly Row[], tasks: readonly Row[], now: Epoch): Finding {
  const gap = Math.min(...jobs.map(({ schedule }) => longestGap(schedule)));
  const last = Math.max(0, ...tasks.map((row) => numberOf(row['starttime']) ?? 0));
  const age = now - last;
  const key = 'backup-jobs';
  const delay = limits.backupDelayHours * HOUR_SEC;
  if (last === 0)
    return { key, state: 'critical', value: null, text: 'There is a backup job, but no backup has ever been made.' };
  return {
    key,
    state: age > 2 * gap + delay ? 'critical' : age > gap + delay ? 'warning' : 'ok',
    value: hours(age),
    text: `The last backup began ${plural(hours(age), 'hour')} ago.`,
  };
}

const freshSec = limits.managerMinutes * 60;

function availabilityFindings({ availability, now }: VirtualizationReading, online: ReadonlySet<string>): Finding[] {
  if ('failure' in availability) return [unread('ha', 'high availability', availability)];
  const findings: Finding[] = [];
  for (const row of sortedBy(availability.data, 'id')) {
    const node = textOf(row['node']) ?? '?';
    if (row['type'] === 'service') {
      const sid = textOf(row['sid']) ?? '?';
      const state = textOf(row['crm_state']) ?? textOf(row['state']) ?? '';
      const isWanted = row['request_state'] === 'started';
      const isBad = ['error', 'fence'].includes(state);
      const isDown = state === 'stopped' && isWanted;
      findings.push({
        key: `ha:${sid}`,
        state: isBad ? 'critical' : isDown ? 'warning' : state === '' ? 'unknown' : 'ok',
        text: isDown
          ? `HA service ${sid} should run and is stopped.`
          : `HA service ${sid} is in state ${state || 'unknown'}.`,
      });
    } else if (row['type'] === 'lrm' && online.has(node)) {
      const age = now - (numberOf(row['timestamp']) ?? Number.NaN);
      const text = textOf(row['status']) ?? '';
      const isMaintained = /maintenance/i.test(text);
      const isStale = !(age <= freshSec) || /unable to read/i.test(text);
      findings.push({
        key: `ha:lrm:${node}`,
        state: isStale ? 'critical' : isMaintained ? 'warning' : 'ok',
        text: isStale
          ? `The resource manager of ${node} has not reported for more than two minutes.`
          : isMaintained
            ? `Node ${node} is in maintenance.`
            : `The resource manager of ${node} reports.`,
      });
    } else if (row['type'] === 'fencing') {
      const armed = textOf(row['armed-state']) ?? '';
      if (/disarm/.test(armed)) findings.push({ key: 'ha:fencing', state: 'warning', text: 'HA fencing is disarmed.' });
    }
  }
  return findings;
}

/** A console task ends as failed when the user closes the console. */
const consoles = new Set(['vncproxy', 'vncshell', 'termproxy', 'spiceproxy']);

function taskFindings(tasks: ListAnswer, now: Epoch): Finding[] {
  if ('failure' in tasks) return [unread('tasks', 'the tasks', tasks)];
  const failed = tasks.data.filter(
    (row) =>
      now - (numberOf(row['endtime']) ?? 0) <= DAY_SEC &&
      taskEnd(row['status']) === 'error' &&
      row['type'] !== 'vzdump' &&
      !consoles.has(String(row['type'])),
  );
  const [first] = failed.toSorted((a, b) => (numberOf(b['endtime']) ?? 0) - (numberOf(a['endtime']) ?? 0));
  return [
    {
      key: 'tasks',
      state: stateAbove(failed.length, { warning: 1 }),
      value: failed.length,
      text: first
        ? `${plural(failed.length, 'task')} failed within a day, most recently ${textOf(first['type']) ?? '?'} on ${nameOf(first)}: ${textOf(first['status']) ?? ''}`
        : 'No task failed within a day.',
    },
  ];
}
