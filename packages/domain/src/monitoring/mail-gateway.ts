import {
  certificateFinding,
  days,
  type Evaluation,
  type Finding,
  fullness,
  plural,
  stateAbove,
  subscriptionFinding,
  unread,
  usagePercent,
  versionFinding,
} from './findings.ts';
import { cpuPercent } from './history.ts';
import { limits } from './limits.ts';
import { DAY_SEC, type Epoch, type ListAnswer, type RowAnswer } from './poll-answers.ts';
import { flagOf, numberOf, type Row, sortedBy, textOf } from './rows.ts';
import type { NotExamined } from './servers.ts';
import { taskEnd } from './tasks.ts';

/** Mails of one day, to learn the usual volume. */
export interface MailDay {
  day: string;
  mails: number;
}

/** Everything one poll of a mail gateway has read. */
export interface MailGatewayReading {
  now: Epoch;
  version: string | null;
  certificateValidTo: Date | null;
  status: Row;
  cluster: ListAnswer;
  mail: RowAnswer;
  spam: RowAnswer;
  virus: RowAnswer;
  deferred: ListAnswer;
  active: ListAnswer;
  services: ListAnswer;
  signatures: ListAnswer;
  rules: ListAnswer | undefined;
  subscription: RowAnswer | undefined;
  updates: ListAnswer | undefined;
  tasks: ListAnswer | undefined;
  /** Since when a node has lagged behind; null while none does. */
  laggingSince: Epoch | null;
  /** The days before today. */
  days: MailDay[];
  notExamined: NotExamined['items'];
}

export function evaluateMailGateway(reading: MailGatewayReading): Evaluation {
  const { status, mail, now } = reading;
  const [deferred, active] = [totalOf(reading.deferred), totalOf(reading.active)];
  const count = 'data' in mail ? numberOf(mail.data['count']) : null;
  const quarantined = (answer: RowAnswer) => ('data' in answer ? numberOf(answer.data['count']) : null);
  const facts: [key: string, label: string, value: number | string | null][] = [
    ['version', 'Version', reading.version],
    ['mails', 'Mails in a day', count],
    ['deferred', 'Deferred mails', deferred],
    ['spamQuarantine', 'Spam in quarantine', quarantined(reading.spam)],
    ['virusQuarantine', 'Viruses in quarantine', quarantined(reading.virus)],
    ['updates', 'Updates', reading.updates && 'data' in reading.updates ? reading.updates.data.length : null],
  ];
  return {
    findings: [
      ...hostFindings(status),
      ...clusterFindings(reading),
      ...queueFindings(reading),
      ...serviceFindings(reading.services),
      ...signatureFindings(reading),
      ...mailFindings(reading),
      ...quarantineFindings(reading),
      ...taskFindings(reading),
      ...subscriptionOf(reading),
      ...certificateFinding(reading.certificateValidTo, now),
      ...versionFinding('mail-gateway', reading.version, now),
    ],
    facts: facts.flatMap(([key, label, value]) =>
      value === null ? [] : [{ key, label, value, unit: typeof value === 'number' ? ('count' as const) : null }],
    ),
    figures: {
      cpu: cpuPercent([{ used: numberOf(status['cpu']), processors: 1 }]),
      memory: usagePercent(status, 'memory'),
      fullest: usagePercent(status, 'rootfs'),
      waiting: deferred === null || active === null ? null : deferred + active,
    },
    summary: `${count === null ? 'An unknown number of mails' : plural(count, 'mail')} in a day, ${deferred ?? 'an unknown number'} deferred`,
    failure: null,
    notExamined: reading.notExamined,
  };
}

function hostFindings(status: Row): Finding[] {
  const percent = (field: string) => usagePercent(status, field);
  const swap = percent('swap');
  return [
    fullness('host:memory', 'the memory', percent('memory'), limits.memoryPercent),
    fullness('host:root', 'the root file system', percent('rootfs'), limits.rootPercent),
    ...(swap === null ? [] : [fullness('host:swap', 'the swap', swap, limits.swapPercent)]),
  ];
}

function clusterFindings({ cluster, laggingSince, now }: MailGatewayReading): Finding[] {
  if ('failure' in cluster) return [unread('cluster', 'the state of the cluster', cluster)];
  return sortedBy(cluster.data, 'cid').map((row): Finding => {
    const name = textOf(row['name']) ?? textOf(row['ip']) ?? '?';
    const key = `cluster:${name}`;
    const error = textOf(row['conn_error']);
    if (error !== null)
      return { key, state: 'critical', text: `Node ${name} cannot be reached by the others: ${error}` };
    if (flagOf(row['insync']) === false) {
      const isLong = laggingSince !== null && now - laggingSince >= limits.laggingMinutes * 60;
      return { key, state: isLong ? 'critical' : 'warning', text: `Node ${name} lags behind the others.` };
    }
    return { key, state: 'ok', text: `Node ${name} is in sync with the others.` };
  });
}

export const isLagging = (cluster: ListAnswer): boolean =>
  'data' in cluster && cluster.data.some((row) => flagOf(row['insync']) === false);

/** The line `TOTAL`. Lines of single domains may be cut off. */
const totalRow = (answer: ListAnswer): Row | undefined =>
  'data' in answer ? answer.data.find(({ domain }) => domain === 'TOTAL') : undefined;
const totalOf = (answer: ListAnswer): number | null => numberOf(totalRow(answer)?.['total']);

function queueFindings({ deferred, active }: MailGatewayReading): Finding[] {
  const queue = (
    key: string,
    what: string,
    answer: ListAnswer,
    above: { warning: number; critical: number },
  ): Finding => {
    if ('failure' in answer) return unread(key, `the ${what} queue`, answer);
    const total = totalOf(answer);
    if (total === null)
      return { key, state: 'unknown', text: `The server does not say how long the ${what} queue is.` };
    return {
      key,
      state: stateAbove(total, above),
      value: total,
      text: `${plural(total, 'mail is', 'mails are')} in the ${what} queue.`,
    };
  };
  const old = numberOf(totalRow(deferred)?.['1280m+']);
  return [
    queue('queue:deferred', 'deferred', deferred, limits.deferredMails),
    ...(old === null
      ? []
      : [
          {
            key: 'queue:old',
            state: stateAbove(old, limits.oldMails),
            value: old,
            text: `${plural(old, 'mail has', 'mails have')} been in the deferred queue for more than 21 hours.`,
          },
        ]),
    queue('queue:active', 'active', active, limits.activeMails),
  ];
}

const required = new Set([
  'postfix',
  'pmg-smtp-filter',
  'pmgpolicy',
  'pmgdaemon',
  'pmgproxy',
  'postgres',
  'clamav-daemon',
]);
const refreshing = 'clamav-freshclam';

function serviceFindings(answer: ListAnswer): Finding[] {
  if ('failure' in answer) return [unread('services', 'the services', answer)];
  const rows = sortedBy(answer.data, 'service');
  const names = new Set(rows.map(nameOf));
  const missing = [...required, refreshing].filter((name) => !names.has(name));
  const found = rows.flatMap((row): Finding[] => {
    const name = nameOf(row);
    const unit = textOf(row['unit-state']) ?? '';
    const active = textOf(row['active-state']) ?? '';
    const isRunning = active === '' ? row['state'] === 'running' : active === 'active';
    const isNeeded = required.has(name) || name === refreshing;
    // A service that runs only at times, or is not needed, is fine unless it has failed.
    if (!isNeeded && active !== 'failed') return [];
    if (isNeeded && unit === 'not-found') return [];
    const state = isRunning ? 'ok' : required.has(name) ? 'critical' : 'warning';
    return [{ key: `service:${name}`, state, text: `Service ${name} ${isRunning ? 'runs' : 'does not run'}.` }];
  });
  return missing.length === 0
    ? found
    : [
        ...found,
        { key: 'services', state: 'unknown', text: `The server does not report the services ${missing.join(', ')}.` },
      ];
}

const nameOf = (row: Row): string => textOf(row['service']) ?? textOf(row['name']) ?? '?';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `16 Mar 2026 23-17 +0000`, as ClamAV writes it; null for anything else. */
export function buildTime(value: unknown): Epoch | null {
  const form = /^(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2})[-:](\d{2})(?:[-:]\d{2})? ([+-])(\d{2})(\d{2})$/;
  const [, day, month, year, hour, minute, sign, zoneHours, zoneMinutes] = form.exec(textOf(value) ?? '') ?? [];
  const at = months.indexOf(month ?? '');
  if (at < 0) return null;
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1);
  return Date.UTC(Number(year), at, Number(day), Number(hour), Number(minute) - offset) / 1_000;
}

function signatureFindings({ signatures, rules, now }: MailGatewayReading): Finding[] {
  const findings: Finding[] = [];
  if ('failure' in signatures) findings.push(unread('signatures', 'the virus signatures', signatures));
  else {
    const built = buildTime(signatures.data.find(({ name }) => name === 'daily')?.['build_time']);
    const age = built === null ? null : days(now - built);
    findings.push({
      key: 'signatures',
      state: age === null ? 'unknown' : stateAbove(age, limits.signatureDays),
      value: age,
      text:
        age === null
          ? 'The server does not say how old its virus signatures are.'
          : `The virus signatures are ${plural(age, 'day')} old.`,
    });
  }
  if (rules && 'failure' in rules) findings.push(unread('spam-rules', 'the spam rules', rules));
  else if (rules) {
    const times = rules.data.map((row) => numberOf(row['last_updated'])).filter((at) => at !== null);
    const age = times.length === 0 ? null : days(now - Math.max(...times));
    findings.push({
      key: 'spam-rules',
      state: age === null ? 'unknown' : age > limits.spamRuleDays.warning ? 'warning' : 'ok',
      value: age,
      text:
        age === null
          ? 'The server does not say how old its spam rules are.'
          : `The spam rules are ${plural(age, 'day')} old.`,
    });
  }
  return findings;
}

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

function mailFindings({ mail, days: before }: MailGatewayReading): Finding[] {
  if ('failure' in mail) return [unread('mail', 'the mail statistics', mail)];
  const count = numberOf(mail.data['count']);
  const spam = numberOf(mail.data['spamcount_out']);
  const virus = numberOf(mail.data['viruscount_out']);
  const usual = median(before.map(({ mails }) => mails));
  const out = spam === null || virus === null ? null : spam + virus;
  return [
    {
      key: 'mail:flow',
      state: count === null ? 'unknown' : count === 0 && usual > 0 ? 'warning' : 'ok',
      value: count,
      text:
        count === null
          ? 'The server does not say how many mails it handled.'
          : `The server handled ${plural(count, 'mail')} within a day.`,
    },
    {
      key: 'mail:outgoing',
      state:
        out === null
          ? 'unknown'
          : out > limits.outgoingMails.critical
            ? 'critical'
            : out > limits.outgoingMails.warning
              ? 'warning'
              : 'ok',
      value: out,
      text:
        out === null
          ? 'The server does not say how much spam went out.'
          : `${plural(out, 'mail')} with spam or viruses went out within a day.`,
    },
  ];
}

/** The size of a quarantine is a mere fact; a quarantine that could not be read is a finding. */
const quarantineFindings = ({ spam, virus }: MailGatewayReading): Finding[] => [
  ...('failure' in spam ? [unread('quarantine:spam', 'the spam quarantine', spam)] : []),
  ...('failure' in virus ? [unread('quarantine:virus', 'the virus quarantine', virus)] : []),
];

function taskFindings({ tasks, now }: MailGatewayReading): Finding[] {
  if (!tasks) return [];
  if ('failure' in tasks) return [unread('tasks', 'the tasks', tasks)];
  const failed = tasks.data.filter(
    (row) => taskEnd(row['status']) === 'error' && now - (numberOf(row['endtime']) ?? 0) <= DAY_SEC,
  );
  const [first] = failed;
  return [
    {
      key: 'tasks',
      state: stateAbove(failed.length, { warning: 1 }),
      value: failed.length,
      text: first
        ? `${plural(failed.length, 'task')} failed within a day, such as ${textOf(first['type']) ?? '?'}: ${textOf(first['status']) ?? ''}`
        : 'No task failed within a day.',
    },
  ];
}

function subscriptionOf({ subscription, now }: MailGatewayReading): Finding[] {
  if (!subscription) return [];
  if ('failure' in subscription) return [unread('subscription', 'the subscription', subscription)];
  return [subscriptionFinding('subscription', '', subscription.data, now)];
}
