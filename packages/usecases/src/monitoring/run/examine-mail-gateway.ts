import type { Evaluation } from '@portal/domain/monitoring/findings';
import { isPathName, numberOf, textOf } from '@portal/domain/monitoring/loose';
import { evaluateMailGateway, isLagging } from '@portal/domain/monitoring/mail-gateway';
import { HOUR_SEC, type ListPart, type RowPart } from '@portal/domain/monitoring/parts';
import type { PollState } from './poll-state.ts';
import { daily, type KeptQuestion, type ServerPoll } from './server-poll.ts';

/** Days by which one knows what is usual. */
const maxDays = 7;

/** Looks at a mail gateway. */
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
  const notExamined = await poll.keepUp(state, questionsFor(node));

  state.laggingSince = isLagging(cluster) ? (state.laggingSince ?? poll.now) : null;
  const today = new Date(poll.now * 1_000).toISOString().slice(0, 10);
  const days = state.days.filter(({ day }) => day !== today).slice(-maxDays);
  const mails = 'data' in mail ? numberOf(mail.data['count']) : null;
  state.days = mails === null ? days : [...days, { day: today, mails }];

  const kept = state.parts as Record<string, (ListPart & RowPart) | undefined>;
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
    rules: kept['rules'],
    subscription: kept['subscription'],
    updates: kept['updates'],
    tasks: kept['tasks'],
    laggingSince: state.laggingSince,
    days,
    notExamined,
  });
}

const questionsFor = (node: string): KeptQuestion[] => [
  {
    key: 'tasks',
    order: 1,
    maxAge: HOUR_SEC,
    what: 'tasks',
    path: `${node}/tasks?errors=1`,
    is: 'list',
    fields: ['type', 'endtime', 'status'],
  },
  {
    key: 'subscription',
    order: 2,
    maxAge: daily,
    what: 'subscription',
    path: `${node}/subscription`,
    is: 'row',
    fields: ['status', 'nextduedate'],
  },
  {
    key: 'updates',
    order: 2,
    maxAge: daily,
    what: 'updates',
    path: `${node}/apt/update`,
    is: 'list',
    fields: ['Package'],
  },
  // The server asks its sources over the network, which takes its time.
  {
    key: 'rules',
    order: 3,
    maxAge: daily,
    what: 'spam rules',
    path: `${node}/spamassassin/rules`,
    is: 'list',
    fields: ['channel', 'last_updated'],
  },
];
