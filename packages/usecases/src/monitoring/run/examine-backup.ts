import { evaluateBackup, type GroupsPart } from '@portal/domain/monitoring/backup';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import { isPathName, numberOf, type Row, textOf } from '@portal/domain/monitoring/loose';
import { DAY_SEC, HOUR_SEC, type ListPart, type RowPart } from '@portal/domain/monitoring/parts';
import { maySee } from './examine-virtualization.ts';
import { daily, type KeptQuestion, type Look } from './look.ts';
import type { Memory } from './memory.ts';

const host = '/nodes/localhost';
/** What is asked first where not everything can be asked in one run. */
const orders = { failing: 1, groups: 2, namespaces: 3, collection: 4, product: 5, disks: 6, snapshots: 7 };
/** Namespaces of a store that are looked at. */
const mostNamespaces = 200;

/** Looks at a backup server: what it says of itself and all stores, then ten follow-up questions in turn. */
export async function examineBackup(look: Look, memory: Memory): Promise<Evaluation> {
  const { version, release } = await look.first('/version');
  const usage = await look.mustList('/status/datastore-usage');
  const stores = await look.list('/admin/datastore');
  const status = await look.row(`${host}/status`);
  const collections = await look.list('/admin/gc');
  const verifications = await look.list('/admin/verify');
  const syncs = await readSyncs(look, memory);
  const prunes = await look.list('/admin/prune');
  const failedTasks = await look.list(`${host}/tasks?since=${look.now - 2 * DAY_SEC}&errors=1&limit=100`);

  const names = usage
    .filter(({ error }) => error === undefined)
    .toSorted((a, b) => fullness(b) - fullness(a))
    .map(({ store }) => textOf(store))
    .filter(isPathName);
  const isOld = 'failure' in collections && collections.failure === 'antwortform';
  const asked = questionsFor(names, { failing: failingStores(failedTasks), isOld, memory });
  // Lists of snapshots weigh megabytes: only the one read longest ago is asked for, the others wait for a later run.
  const waiting = new Set(
    asked
      .filter(({ order }) => order === orders.snapshots)
      .toSorted((a, b) => readAt(memory, a.key) - readAt(memory, b.key))
      .slice(1),
  );
  const notExamined = await look.keepUp(
    memory,
    asked.map((one) => ({ ...one, waits: waiting.has(one) })),
  );

  return evaluateBackup({
    now: look.now,
    version: [textOf(version), textOf(release)].filter((text) => text !== null).join('.') || null,
    certificateValidTo: look.session.certificateValidTo,
    usage,
    stores,
    status,
    collections: isOld ? collectionsOf(names, memory, look.now) : collections,
    verifications,
    syncs,
    prunes,
    failedTasks,
    namespaces: ofEach(names, 'namespaces', memory),
    groups: groupsIn(memory),
    snapshots: ofEach(names, 'snapshots', memory),
    subscription: memory.parts['subscription'] as RowPart | undefined,
    updates: memory.parts['updates'] as ListPart | undefined,
    disks: memory.parts['disks'] as ListPart | undefined,
    pools: memory.parts['pools'] as ListPart | undefined,
    maySeeSyncs: hasNone(syncs) ? await maySee(look, ['/', '/remote'], 'Remote.Audit') : true,
    notExamined,
  });
}

const fullness = (row: Row): number => (numberOf(row['used']) ?? 0) / (numberOf(row['total']) ?? 1);
const readAt = ({ parts }: Memory, key: string): number => parts[key]?.readAt ?? 0;
const hasNone = (part: ListPart): boolean => 'data' in part && part.data.length === 0;

/** Old servers only pull and reject the `sync-direction` parameter. */
async function readSyncs(look: Look, memory: Memory): Promise<ListPart> {
  const plain = '/admin/sync';
  if (memory.knowsNoDirection) return look.list(plain);
  const part = await look.list(`${plain}?sync-direction=all`);
  if (!('failure' in part) || part.failure !== 'antwortform') return part;
  const again = await look.list(plain);
  memory.knowsNoDirection = 'data' in again;
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
  { failing, isOld, memory }: { failing: ReadonlySet<string>; isOld: boolean; memory: Memory },
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
      ...namespacesOf(store, memory).map((namespace) => groups(store, namespace, orders.namespaces, 1)),
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

function namespacesOf(store: string, { parts }: Memory): string[] {
  const part = parts[`namespaces:${store}`] as ListPart | undefined;
  if (!part || 'failure' in part) return [];
  return part.data
    .map((row) => textOf(row['ns']))
    .filter((name) => name !== null)
    .slice(0, mostNamespaces);
}

/** What each store says of its own collection, on servers that have no list of all. */
function collectionsOf(stores: readonly string[], { parts }: Memory, now: number): ListPart {
  const read = stores.flatMap((store) => {
    const part = parts[`gc:${store}`] as RowPart | undefined;
    return part && 'data' in part ? [{ store, ...part.data }] : [];
  });
  return { readAt: now, data: read };
}

/** A list of each store, where it was read before. */
const ofEach = (stores: readonly string[], name: 'namespaces' | 'snapshots', { parts }: Memory) =>
  stores.flatMap((store) => {
    const part = parts[`${name}:${store}`];
    return part ? [{ store, part: part as ListPart }] : [];
  });

const groupsIn = ({ parts }: Memory): GroupsPart[] =>
  Object.entries(parts).flatMap(([key, part]) => {
    const [, store, namespace] = /^groups:([^/]+)\/(.*)$/.exec(key) ?? [];
    return store === undefined || namespace === undefined ? [] : [{ store, namespace, part: part as ListPart }];
  });
