import { ServerFailure } from '@portal/connectors/servers/server-failure';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import { guestKey, planGuestLookups } from '@portal/domain/monitoring/guest-lookups';
import { flagOf, isPathName, isRow, numberOf, textOf } from '@portal/domain/monitoring/loose';
import { HOUR_SEC, MINUTE_SEC, type ListPart, type RowPart } from '@portal/domain/monitoring/parts';
import {
  evaluateVirtualization,
  isGuest,
  maxNodes,
  nodesOf,
  type NodeParts,
  onlineNodes,
  resourceFields,
} from '@portal/domain/monitoring/virtualization';
import type { PollState } from './poll-state.ts';
import { daily, type KeptQuestion, type ServerPoll } from './server-poll.ts';

/** Questions to nodes in one run: everything of three nodes, the usual cluster, at the first. */
const maxNodeQuestions = 24;
const maxRemembered = 5_000;

/** Looks at a virtualization server: what the cluster says, then its nodes in turn, then guests that do not run. */
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
  const notExamined = await poll.keepUp(
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
    const of = String(guest['node']);
    const what = `Guest ${textOf(guest['vmid']) ?? '?'}`;
    if (poll.isSilent(of)) {
      notExamined.push({ what, why: `${of} does not answer` });
      continue;
    }
    const part = await poll.row(`/nodes/${of}/${String(guest['type'])}/${Number(guest['vmid'])}/config`, { of });
    if ('data' in part)
      state.guests[guestKey(guest)] = { onboot: flagOf(part.data['onboot']) === true, readAt: poll.now };
    // It may have moved to another node since.
    else notExamined.push({ what, why: `\`${part.failure}\`: ${part.message}` });
  }
  const present = new Set(guests.map(guestKey));
  state.guests = Object.fromEntries(
    Object.entries(state.guests)
      .filter(([key]) => present.has(key))
      .slice(-maxRemembered),
  );
  state.ran = guests
    .filter((row) => row['status'] === 'running' && numberOf(row['vmid']) !== null)
    .map(guestKey)
    .slice(0, maxRemembered);

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
  status: { path: 'status', is: 'row', order: 1, maxAge: 10 * MINUTE_SEC, fields: ['swap'], what: 'status' },
  backups: {
    path: 'tasks?typefilter=vzdump&source=all&limit=20',
    is: 'list',
    order: 2,
    maxAge: 15 * MINUTE_SEC,
    fields: ['id', 'starttime', 'endtime', 'status'],
    what: 'backups',
  },
  replication: {
    path: 'replication',
    is: 'list',
    order: 3,
    maxAge: 15 * MINUTE_SEC,
    fields: ['id', 'fail_count', 'error'],
    what: 'replication',
  },
  pools: {
    path: 'disks/zfs',
    is: 'list',
    order: 4,
    maxAge: 6 * HOUR_SEC,
    fields: ['name', 'health'],
    what: 'ZFS pools',
  },
  disks: {
    path: 'disks/list',
    is: 'list',
    order: 5,
    maxAge: 6 * HOUR_SEC,
    fields: ['devpath', 'health', 'wearout'],
    what: 'disks',
  },
  subscription: {
    path: 'subscription',
    is: 'row',
    order: 6,
    maxAge: daily,
    fields: ['status', 'nextduedate'],
    what: 'subscription',
  },
  certificates: {
    path: 'certificates/info',
    is: 'list',
    order: 7,
    maxAge: daily,
    fields: ['filename', 'notafter'],
    what: 'certificates',
  },
} as const satisfies Record<keyof NodeParts, Omit<KeptQuestion, 'key'>>;

const nodeQuestions = (node: string, hasJobs: boolean): KeptQuestion[] =>
  Object.entries(questions)
    .filter(([name]) => hasJobs || name !== 'backups')
    .map(([name, question]) => ({
      ...question,
      key: `node:${node}:${name}`,
      of: node,
      path: `/nodes/${node}/${question.path}`,
      what: `${question.what} of ${node}`,
    }));

function partsOf(node: string, { parts }: PollState): NodeParts {
  const found = Object.keys(questions).flatMap((name) => {
    const part = parts[`node:${node}:${name}`];
    return part ? [[name, part as ListPart & RowPart] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Whether the account holds a right on one of these places; null when the server does not tell. */
export async function maySee(poll: ServerPoll, places: readonly string[], right: string): Promise<boolean | null> {
  const part = await poll.row('/access/permissions');
  if ('failure' in part) return null;
  return places.some((place) => {
    const rights = part.data[place];
    return isRow(rights) && Object.hasOwn(rights, right);
  });
}
