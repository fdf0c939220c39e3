import { evaluateBackup, type GroupsPart } from '@portal/domain/monitoring/backup';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import { isPathName, numberOf, type Row, textOf } from '@portal/domain/monitoring/loose';
import { DAY_SEC, HOUR_SEC, type ListPart, type RowPart } from '@portal/domain/monitoring/parts';
import { maySee } from './examine-virtualization.ts';
import type { PollState } from './poll-state.ts';
import { daily, type KeptQuestion, type ServerPoll } from './server-poll.ts';

const host = '/nodes/localhost';
/** What is asked first where not everything can be asked in one run. */
const orders = { failing: 1, groups: 2, namespaces: 3, collection: 4, product: 5, disks: 6, snapshots: 7 };
/** Namespaces of a store that are looked at. */
const maxNamespaces = 200;

/** Looks at a backup server: what it says of itself and all stores, then ten follow-up questions in turn. */
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
  const asked = questionsFor(names, { failing: failingStores(failedTasks), isOld, state });
  // Lists of snapshots weigh megabytes: only the one read longest ago is asked for, the others wait for a later run.
  const waiting = new Set(
    asked
      .filter(({ order }) => order === orders.snapshots)
      .toSorted((a, b) => readAt(state, a.key) - readAt(state, b.key))
      .slice(1),
  );
  const notExamined = await poll.keepUp(
    state,
    asked.map((one) => ({ ...one, waits: waiting.has(one) })),
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
    subscription: state.parts['subscription'] as RowPart | undefined,
    updates: state.parts['updates'] as ListPart | undefined,
    disks: state.parts['disks'] as ListPart | undefined,
    pools: state.parts['pools'] as ListPart | undefined,
    maySeeSyncs: hasNone(syncs) ? await maySee(poll, ['/', '/remote'], 'Remote.Audit') : true,
    notExamined,
  });
}

const fullness = (row: Row): number => (numberOf(row['used']) ?? 0) / (numberOf(row['total']) ?? 1);
const readAt = ({ parts }: PollState, key: string): number => parts[key]?.readAt ?? 0;
const hasNone = (part: ListPart): boolean => 'data' in part && part.data.length === 0;

/** Old servers only pull and reject the `sync-direction` parameter. */
async function readSyncs(poll: ServerPoll, state: PollState): Promise<ListPart> {
  const plain = '/admin/sync';
  if (state.knowsNoDirection) return poll.list(plain);
  const part = await poll.list(`${plain}?sync-direction=all`);
  if (!('failure' in part) || part.failure !== 'antwortform') return part;
  const again = await poll.list(plain);
  state.knowsNoDirection = 'data' in again;
  return again;
}

const failingStores = (tasks: ListPart): ReadonlySet<string> =>
  new Set(
    ('data' in tasks ? tasks.data : [])
      .filter((row) => row['worker_type'] === 'backup')
      .map((row) => (textOf(row['worker_id']) ?? '').split(':', 1)[0] ?? ''),
  );

function questionsFor(
  stores: readonly string[],
  { failing, isOld, state }: { failing: ReadonlySet<string>; isOld: boolean; state: PollState },
): KeptQuestion[] {
  const at = (store: string) => `/admin/datastore/${store}`;
  const groups = (store: string, namespace: string, order: number, rank: number): KeptQuestion => ({
    key: `groups:${store}/${namespace}`,
    of: store,
    order,
    rank,
    maxAge: HOUR_SEC,
    what: `backups in ${store}${namespace && `/${namespace}`}`,
    path: `${at(store)}/groups${namespace && `?ns=${encodeURIComponent(namespace)}`}`,
    is: 'list',
    fields: ['backup-type', 'backup-id', 'last-backup', 'comment'],
    choose: (rows) => rows.toSorted((a, b) => (numberOf(a['last-backup']) ?? 0) - (numberOf(b['last-backup']) ?? 0)),
  });
  return [
    ...stores.flatMap((store, rank): KeptQuestion[] => [
      groups(store, '', failing.has(store) ? orders.failing : orders.groups, rank),
      {
        key: `namespaces:${store}`,
        of: store,
        order: orders.namespaces,
        maxAge: DAY_SEC - HOUR_SEC,
        what: `namespaces of ${store}`,
        path: `${at(store)}/namespace`,
        is: 'list',
        fields: ['ns'],
      },
      ...namespacesOf(store, state).map((namespace) => groups(store, namespace, orders.namespaces, 1)),
      ...(isOld
        ? [
            {
              key: `gc:${store}`,
              of: store,
              order: orders.collection,
              maxAge: HOUR_SEC,
              what: `garbage collection of ${store}`,
              path: `${at(store)}/gc`,
              is: 'row' as const,
              fields: ['store', 'schedule', 'next-run', 'last-run-state', 'last-run-endtime', 'still-bad'],
            },
          ]
        : []),
      {
        key: `snapshots:${store}`,
        of: store,
        order: orders.snapshots,
        maxAge: daily,
        what: `snapshots of ${store}`,
        path: `${at(store)}/snapshots`,
        is: 'list',
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
      is: 'row',
      fields: ['status', 'nextduedate'],
    },
    {
      key: 'updates',
      order: orders.product,
      maxAge: daily,
      what: 'updates',
      path: `${host}/apt/update`,
      is: 'list',
      fields: ['Package'],
    },
    {
      key: 'pools',
      order: orders.disks,
      maxAge: 6 * HOUR_SEC,
      what: 'ZFS pools',
      path: `${host}/disks/zfs`,
      is: 'list',
      fields: ['name', 'health'],
    },
    {
      key: 'disks',
      order: orders.disks,
      maxAge: 6 * HOUR_SEC,
      what: 'disks',
      path: `${host}/disks/list`,
      is: 'list',
      fields: ['devpath', 'name', 'status', 'wearout'],
    },
  ];
}

const failedOnes = (rows: readonly Row[]): Row[] =>
  rows.filter((row) => (row['verification'] as Row | undefined)?.['state'] === 'failed');

function namespacesOf(store: string, { parts }: PollState): string[] {
  const part = parts[`namespaces:${store}`] as ListPart | undefined;
  if (!part || 'failure' in part) return [];
  return part.data
    .map((row) => textOf(row['ns']))
    .filter((name) => name !== null)
    .slice(0, maxNamespaces);
}

/** What each store says of its own collection, on servers that have no list of all. */
function collectionsOf(stores: readonly string[], { parts }: PollState, now: number): ListPart {
  const read = stores.flatMap((store) => {
    const part = parts[`gc:${store}`] as RowPart | undefined;
    return part && 'data' in part ? [{ store, ...part.data }] : [];
  });
  return { readAt: now, data: read };
}

/** A list of each store, where it was read before. */
const ofEach = (stores: readonly string[], name: 'namespaces' | 'snapshots', { parts }: PollState) =>
  stores.flatMap((store) => {
    const part = parts[`${name}:${store}`];
    return part ? [{ store, part: part as ListPart }] : [];
  });

const groupsIn = ({ parts }: PollState): GroupsPart[] =>
  Object.entries(parts).flatMap(([key, part]) => {
    const [, store, namespace] = /^groups:([^/]+)\/(.*)$/.exec(key) ?? [];
    return store === undefined || namespace === undefined ? [] : [{ store, namespace, part: part as ListPart }];
  });
