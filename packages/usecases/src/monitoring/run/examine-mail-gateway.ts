import type { Evaluation } from '@portal/domain/monitoring/findings';
import { evaluateMailGateway, isLagging } from '@portal/domain/monitoring/mail-gateway';
import { HOUR_SEC, type ListAnswer, type RowAnswer } from '@portal/domain/monitoring/poll-answers';
import { isPathName, numberOf, textOf } from '@portal/domain/monitoring/rows';
import type { PollState } from './poll-state.ts';
import { daily, type FollowUpQuestion, type ServerPoll } from './server-poll.ts';

/** Days used to learn the usual mail volume. */
const maxDays = 7;

/** Polls a mail gateway. */
export async function examineMailGateway(poll: ServerPoll, state: PollState): Promise<Evaluation> {
  const version = textOf((await poll.first('/version'))['version']);
  const [answering] = await poll.mustList('/nodes');
  const name = textOf(answering?.['node']);
  const node = `/nodes/${isPathName(name) ? name : 'localhost'}`;
  const status = await poll.mustRow(`${node}/status`);
  const cluster = await poll.list('/config/cluster/status?list_single_node=1');
  const mail = await poll.row('/statistics/mail');
  const spam = await poll.row('/quarantine/spamstatus');
  const virus = await poll.row('/quarantine/virusstatus');
  const deferred = await poll.list(`${node}/postfix/qshape?queue=deferred`);
  const active = await poll.list(`${node}/postfix/qshape?queue=active`);
  const services = await poll.list(`${node}/services`);
  const signatures = await poll.list(`${node}/clamav/database`);
  const notExamined = await poll.refreshAnswers(state, questionsFor(node));

  state.laggingSince = isLagging(cluster) ? (state.laggingSince ?? poll.now) : null;
  const today = new Date(poll.now * 1_000).toISOString().slice(0, 10);
  const days = state.days.filter(({ day }) => day !== today).slice(-maxDays);
  const mails = 'data' in mail ? numberOf(mail.data['count']) : null;
  state.days = mails === null ? days : [...days, { day: today, mails }];

  const cached = state.parts as Record<string, (ListAnswer & RowAnswer) | undefined>;
  return evaluateMailGateway({
    now: poll.now,
    version,
    certificateValidTo: poll.session.certificateValidTo,
    status,
    cluster,
    mail,
    spam,
    virus,
    deferred,
    active,
    services,
    signatures,
    rules: cached['rules'],
    subscription: cached['subscription'],
    updates: cached['updates'],
    tasks: cached['tasks'],
    laggingSince: state.laggingSince,
    days,
    notExamined,
  });
}

const questionsFor = (node: string): FollowUpQuestion[] => [
  {
    key: 'tasks',
    order: 1,
    maxAge: HOUR_SEC,
    what: 'tasks',
    path: `${node}/tasks?errors=1`,
    shape: 'list',
    fields: ['type', 'endtime', 'status'],
  },
  {
    key: 'subscription',
    order: 2,
    maxAge: daily,
    what: 'subscription',
    path: `${node}/subscription`,
    shape: 'row',
    fields: ['status', 'nextduedate'],
  },
  {
    key: 'updates',
    order: 2,
    maxAge: daily,
    what: 'updates',
    path: `${node}/apt/update`,
    shape: 'list',
    fields: ['Package'],
  },
  // The server reads its sources over the network, which takes time.
  {
    key: 'rules',
    order: 3,
    maxAge: daily,
    what: 'spam rules',
    path: `${node}/spamassassin/rules`,
    shape: 'list',
    fields: ['channel', 'last_updated'],
  },
];
