import type { Evaluation } from '@portal/domain/monitoring/findings';
import { isPathName, numberOf, textOf } from '@portal/domain/monitoring/loose';
import { evaluateMailGateway, isLagging } from '@portal/domain/monitoring/mail-gateway';
import { HOUR_SEC, type ListPart, type RowPart } from '@portal/domain/monitoring/parts';
import { daily, type KeptQuestion, type Look } from './look.ts';
import type { Memory } from './memory.ts';

/** Days by which one knows what is usual. */
const mostDays = 7;

/** Looks at a mail gateway. */
export async function examineMailGateway(look: Look, memory: Memory): Promise<Evaluation> {
  const version = textOf((await look.first('/version'))['version']);
  const [answering] = await look.mustList('/nodes');
  const name = textOf(answering?.['node']);
  const node = `/nodes/${isPathName(name) ? name : 'localhost'}`;
  const status = await look.mustRow(`${node}/status`);
  const cluster = await look.list('/config/cluster/status?list_single_node=1');
  const mail = await look.row('/statistics/mail');
  const spam = await look.row('/quarantine/spamstatus');
  const virus = await look.row('/quarantine/virusstatus');
  const deferred = await look.list(`${node}/postfix/qshape?queue=deferred`);
  const active = await look.list(`${node}/postfix/qshape?queue=active`);
  const services = await look.list(`${node}/services`);
  const signatures = await look.list(`${node}/clamav/database`);
  const notExamined = await look.keepUp(memory, questionsFor(node));

  memory.laggingSince = isLagging(cluster) ? (memory.laggingSince ?? look.now) : null;
  const today = new Date(look.now * 1_000).toISOString().slice(0, 10);
  const days = memory.days.filter(({ day }) => day !== today).slice(-mostDays);
  const mails = 'data' in mail ? numberOf(mail.data['count']) : null;
  memory.days = mails === null ? days : [...days, { day: today, mails }];

  const kept = memory.parts as Record<string, (ListPart & RowPart) | undefined>;
  return evaluateMailGateway({
    now: look.now,
    version,
    certificateValidTo: look.session.certificateValidTo,
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
    laggingSince: memory.laggingSince,
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
