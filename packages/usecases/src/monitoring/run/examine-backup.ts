import { evaluateBackup, type GroupsAnswer } from '@portal/domain/monitoring/backup';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import { DAY_SEC, HOUR_SEC, type ListAnswer, type RowAnswer } from '@portal/domain/monitoring/poll-answers';
import { isPathName, numberOf, type Row, textOf } from '@portal/domain/monitoring/rows';
import { maySee } from './examine-virtualization.ts';
import type { PollState } from './poll-state.ts';
import { daily, type FollowUpQuestion, type ServerPoll } from './server-poll.ts';

const host = '/nodes/localhost';
/** Priorities of the follow-up questions if one run cannot ask all of them. */
const orders = { failing: 1, groups: 2, namespaces: 3, collection: 4, product: 5, disks: 6, snapshots: 7 };
/** Namespaces examined per store. */
const maxNamespaces = 200;

/** Polls a backup server: the server and all stores first, then up to ten follow-up questions. */
export async function examineBackup(poll: ServerPoll, state: PollState): Promise<Evaluation> {
  const { version, release } = await poll.first('/version');
  const usage = await poll.mustList('/status/datastore-usage');
  const stores = await poll.list('/admin/datastore');
  const status = await poll.row(`${host}/status`);
  const collections = await poll.list('/admin/gc');
  const verifications = await poll.list('/admin/verify');
  const syncs = await readSyncs(poll, state);
  const prunes = await poll.list('/admin/prune');
  const failedTasks = await poll.list(`${host}/tasks?since=${poll.now - 2 * DAY_SEC}&errors=1&limit=100`);

  const names = usage
    .filter(({ error }) => error === undefined)
    .toSorted((a, b) => fullness(b) - fullness(a))
    .map(({ store }) => textOf(store))
    .filter(isPathName);
  const isOld = 'failure' in collections && collections.failure === 'antwortform';
  const questions = questionsFor(names, { failing: failingStores(failedTasks), isOld, state });
  // A list of snapshots takes megabytes, so each run reads only the oldest one.
  const postponed = new Set(
    questions
      .filter(({ order }) => order === orders.snapshots)
      .toSorted((a, b) => readAt(state, a.key) - readAt(state, b.key))
      .slice(1),
  );
  const notExamined = await poll.refreshAnswers(
    state,
    questions.map((question) => ({ ...question, isPostponed: postponed.has(question) })),
  );

  return evaluateBackup({
    now: poll.now,
    version: [textOf(version), textOf(release)].filter((text) => text !== null).join('.') || null,
    certificateValidTo: poll.session.certificateValidTo,
    usage,
    stores,
    status,
    collections: isOld ? collectionsOf(names, state, poll.now) : collections,
    verifications,
    syncs,
    prunes,
    failedTasks,
    namespaces: ofEach(names, 'namespaces', state),
    groups: groupsIn(state),
    snapshots: ofEach(names, 'snapshots', state),
    subscription: state.parts['subscription'] as RowAnswer | undefined,
    updates: state.parts['updates'] as ListAnswer | undefined,
    disks: state.parts['disks'] as ListAnswer | undefined,
    pools: state.parts['pools'] as ListAnswer | undefined,
    maySeeSyncs: hasNone(syncs) ? await maySee(poll, ['/', '/remote'], 'Remote.Audit') : true,
    notExamined,
  });
}

const fullness = (row: Row): number => (numberOf(row['used']) ?? 0) / (numberOf(row['total']) ?? 1);
const readAt = ({ parts }: PollState, key: string): number => parts[key]?.readAt ?? 0;
const hasNone = (answer: ListAnswer): boolean => 'data' in answer && answer.data.length === 0;

/** Old servers know only pull jobs and reject the `sync-direction` parameter. */
async function readSyncs(poll: ServerPoll, state: PollState): Promise<ListAnswer> {
  const plain = '/admin/sync';
  if (state.knowsNoDirection) return poll.list(plain);
  const answer = await poll.list(`${plain}?sync-direction=all`);
  if (!('failure' in answer) || answer.failure !== 'antwortform') return answer;
  const again = await poll.list(plain);
  state.knowsNoDirection = 'data' in again;
  return again;
}

const failingStores = (tasks: ListAnswer): ReadonlySet<string> =>
  new Set(
    ('data' in tasks ? tasks.data : [])
      .filter((row) => row['worker_type'] === 'backup')
      .map((row) => (textOf(row['worker_id']) ?? '').split(':', 1)[0] ?? ''),
  );

function questionsFor(
  stores: readonly string[],
  { failing, isOld, state }: { failing: ReadonlySet<string>; isOld: boolean; state: PollState },
): FollowUpQuestion[] {
  const at = (store: string) => `/admin/datastore/${store}`;
  const groups = (store: string, namespace: string, order: number, rank: number): FollowUpQuestion => ({
    key: `groups:${store}/${namespace}`,
    target: store,
    order,
    rank,
    maxAge: HOUR_SEC,
    what: `backups in ${store}${namespace && `/${namespace}`}`,
    path: `${at(store)}/groups${namespace && `?ns=${encodeURIComponent(namespace)}`}`,
    shape: 'list',
    fields: ['backup-type', 'backup-id', 'last-backup', 'comment'],
    choose: (rows) => rows.toSorted((a, b) => (numberOf(a['last-backup']) ?? 0) - (numberOf(b['last-backup']) ?? 0)),
  });
  return [
    ...stores.flatMap((store, rank): FollowUpQuestion[] => [
      groups(store, '', failing.has(store) ? orders.failing : orders.groups, rank),
      {
        key: `namespaces:${store}`,
        target: store,
        order: orders.namespaces,
        maxAge: DAY_SEC - HOUR_SEC,
        what: `namespaces of ${store}`,
        path: `${at(store)}/namespace`,
        shape: 'list',
        fields: ['ns'],
      },
      ...namespacesOf(store, state).map((namespace) => groups(store, namespace, orders.namespaces, 1)),
      ...(isOld
        ? [
            {
              key: `gc:${store}`,
              target: store,
              order: orders.collection,
              maxAge: HOUR_SEC,
              what: `garbage collection of ${store}`,
              path: `${at(store)}/gc`,
              shape: 'row' as const,
              fields: ['store', 'schedule', 'next-run', 'last-run-state', 'last-run-endtime', 'still-bad'],
            },
          ]
        : []),
      {
        key: `snapshots:${store}`,
        target: store,
        order: orders.snapshots,
        maxAge: daily,
        what: `snapshots of ${store}`,
        path: `${at(store)}/snapshots`,
        shape: 'list',
        fields: ['backup-type', 'backup-id', 'backup-time'],
        alsoRead: ['verification'],
        choose: failedOnes,
      },
    ]),
    {
      key: 'subscription',
      order: orders.product,
      maxAge: daily,
      what: 'subscription',
      path: `${host}/subscription`,
      shape: 'row',
      fields: ['status', 'nextduedate'],
    },
    {
      key: 'updates',
      order: orders.product,
      maxAge: daily,
      what: 'updates',
      path: `${host}/apt/update`,
      shape: 'list',
      fields: ['Package'],
    },
    {
      key: 'pools',
      order: orders.disks,
      maxAge: 6 * HOUR_SEC,
      what: 'ZFS pools',
      path: `${host}/disks/zfs`,
      shape: 'list',
      fields: ['name', 'health'],
    },
    {
      key: 'disks',
      order: orders.disks,
      maxAge: 6 * HOUR_SEC,
      what: 'disks',
      path: `${host}/disks/list`,
      shape: 'list',
      fields: ['devpath', 'name', 'status', 'wearout'],
    },
  ];
}

const failedOnes = (rows: readonly Row[]): Row[] =>
  rows.filter((row) => (row['verification'] as Row | undefined)?.['state'] === 'failed');

function namespacesOf(store: string, { parts }: PollState): string[] {
  const answer = parts[`namespaces:${store}`] as ListAnswer | undefined;
  if (!answer || 'failure' in answer) return [];
  return answer.data
    .map((row) => textOf(row['ns']))
    .filter((name) => name !== null)
    .slice(0, maxNamespaces);
}

/** The garbage collection of each store, on servers without a list of all. */
function collectionsOf(stores: readonly string[], { parts }: PollState, now: number): ListAnswer {
  const read = stores.flatMap((store) => {
    const answer = parts[`gc:${store}`] as RowAnswer | undefined;
    return answer && 'data' in answer ? [{ store, ...answer.data }] : [];
  });
  return { readAt: now, data: read };
}

/** The lists of all stores that were read before. */
const ofEach = (stores: readonly string[], name: 'namespaces' | 'snapshots', { parts }: PollState) =>
  stores.flatMap((store) => {
    const answer = parts[`${name}:${store}`];
    return answer ? [{ store, answer: answer as ListAnswer }] : [];
  });

const groupsIn = ({ parts }: PollState): GroupsAnswer[] =>
  Object.entries(parts).flatMap(([key, answer]) => {
    const [, store, namespace] = /^groups:([^/]+)\/(.*)$/.exec(key) ?? [];
    return store === undefined || namespace === undefined ? [] : [{ store, namespace, answer: answer as ListAnswer }];
  });
