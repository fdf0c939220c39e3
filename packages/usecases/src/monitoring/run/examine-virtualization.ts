import { ServerFailure } from '@portal/connectors/servers/server-failure';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import { guestKey, planGuestLookups } from '@portal/domain/monitoring/guest-lookups';
import { HOUR_SEC, MINUTE_SEC, type ListAnswer, type RowAnswer } from '@portal/domain/monitoring/poll-answers';
import { flagOf, isPathName, isRow, numberOf, textOf } from '@portal/domain/monitoring/rows';
import {
  evaluateVirtualization,
  isGuest,
  maxNodes,
  nodesOf,
  type NodeAnswers,
  onlineNodes,
  resourceFields,
} from '@portal/domain/monitoring/virtualization';
import type { PollState } from './poll-state.ts';
import { daily, type FollowUpQuestion, type ServerPoll } from './server-poll.ts';

/** Follow-up questions in one run. The first run can ask all of them for three nodes, the usual cluster. */
const maxNodeQuestions = 24;
const maxCachedGuests = 5_000;

/** Polls a virtualization server: the cluster first, then its nodes in turn, then stopped guests. */
export async function examineVirtualization(poll: ServerPoll, state: PollState): Promise<Evaluation> {
  const version = textOf((await poll.first('/version'))['version']);
  const resources = await poll.mustList('/cluster/resources', { fields: resourceFields });
  if (nodesOf(resources).length > maxNodes)
    throw new ServerFailure('antwortform', `${poll.session.host} names more nodes than a cluster can have.`);
  const members = await poll.list('/cluster/status');
  const tasks = await poll.list('/cluster/tasks');
  const jobs = await poll.list('/cluster/backup');
  const unbacked = await poll.list('/cluster/backup-info/not-backed-up');
  const availability = await poll.list('/cluster/ha/status/current');

  const online = onlineNodes(resources, members).filter(isPathName);
  const hasJobs = 'data' in jobs && jobs.data.some((row) => flagOf(row['enabled']) !== false);
  const notExamined = await poll.refreshAnswers(
    state,
    online.flatMap((node) => nodeQuestions(node, hasJobs)),
    maxNodeQuestions,
  );

  const guests = resources.filter(isGuest);
  const plan = planGuestLookups(guests, {
    online: new Set(online),
    cache: state.guests,
    ran: new Set(state.ran),
    now: poll.now,
  });
  for (const guest of plan.ask) {
    const node = String(guest['node']);
    const what = `Guest ${textOf(guest['vmid']) ?? '?'}`;
    if (poll.isSilent(node)) {
      notExamined.push({ what, why: `${node} does not answer` });
      continue;
    }
    const answer = await poll.row(`/nodes/${node}/${String(guest['type'])}/${Number(guest['vmid'])}/config`, {
      target: node,
    });
    if ('data' in answer)
      state.guests[guestKey(guest)] = { onboot: flagOf(answer.data['onboot']) === true, readAt: poll.now };
    // The guest may have moved to another node meanwhile.
    else notExamined.push({ what, why: `\`${answer.failure}\`: ${answer.message}` });
  }
  const present = new Set(guests.map(guestKey));
  state.guests = Object.fromEntries(
    Object.entries(state.guests)
      .filter(([key]) => present.has(key))
      .slice(-maxCachedGuests),
  );
  state.ran = guests
    .filter((row) => row['status'] === 'running' && numberOf(row['vmid']) !== null)
    .map(guestKey)
    .slice(0, maxCachedGuests);

  return evaluateVirtualization({
    now: poll.now,
    version,
    certificateValidTo: poll.session.certificateValidTo,
    members,
    resources,
    tasks,
    jobs,
    unbacked,
    availability,
    nodes: Object.fromEntries(online.map((node) => [node, partsOf(node, state)])),
    guests: plan,
    known: state.guests,
    maySeeGuests: guests.length > 0 ? true : await maySee(poll, ['/', '/vms'], 'VM.Audit'),
    notExamined,
  });
}

const questions = {
  status: { path: 'status', shape: 'row', order: 1, maxAge: 10 * MINUTE_SEC, fields: ['swap'], what: 'status' },
  backups: {
    path: 'tasks?typefilter=vzdump&source=all&limit=20',
    shape: 'list',
    order: 2,
    maxAge: 15 * MINUTE_SEC,
    fields: ['id', 'starttime', 'endtime', 'status'],
    what: 'backups',
  },
  replication: {
    path: 'replication',
    shape: 'list',
    order: 3,
    maxAge: 15 * MINUTE_SEC,
    fields: ['id', 'fail_count', 'error'],
    what: 'replication',
  },
  pools: {
    path: 'disks/zfs',
    shape: 'list',
    order: 4,
    maxAge: 6 * HOUR_SEC,
    fields: ['name', 'health'],
    what: 'ZFS pools',
  },
  disks: {
    path: 'disks/list',
    shape: 'list',
    order: 5,
    maxAge: 6 * HOUR_SEC,
    fields: ['devpath', 'health', 'wearout'],
    what: 'disks',
  },
  subscription: {
    path: 'subscription',
    shape: 'row',
    order: 6,
    maxAge: daily,
    fields: ['status', 'nextduedate'],
    what: 'subscription',
  },
  certificates: {
    path: 'certificates/info',
    shape: 'list',
    order: 7,
    maxAge: daily,
    fields: ['filename', 'notafter'],
    what: 'certificates',
  },
} as const satisfies Record<keyof NodeAnswers, Omit<FollowUpQuestion, 'key'>>;

const nodeQuestions = (node: string, hasJobs: boolean): FollowUpQuestion[] =>
  Object.entries(questions)
    .filter(([name]) => hasJobs || name !== 'backups')
    .map(([name, question]) => ({
      ...question,
      key: `node:${node}:${name}`,
      target: node,
      path: `/nodes/${node}/${question.path}`,
      what: `${question.what} of ${node}`,
    }));

function partsOf(node: string, { parts }: PollState): NodeAnswers {
  const found = Object.keys(questions).flatMap((name) => {
    const answer = parts[`node:${node}:${name}`];
    return answer ? [[name, answer as ListAnswer & RowAnswer] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Whether the account has a right on one of these paths; null if the server does not say. */
export async function maySee(poll: ServerPoll, paths: readonly string[], right: string): Promise<boolean | null> {
  const answer = await poll.row('/access/permissions');
  if ('failure' in answer) return null;
  return paths.some((path) => {
    const rights = answer.data[path];
    return isRow(rights) && Object.hasOwn(rights, right);
  });
}
