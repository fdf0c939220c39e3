import {
  type ProductAnswer,
  type ProductAnswers,
  type ProductOptions,
  type ProductServer,
  startProductServer,
} from './product-server.ts';

export interface Datastore {
  name: string;
  full: number;
  namespaces: string[];
  groups: { id: string; ageHours: number; comment?: string }[];
  /** The reason why it is unusable, sent as plain text with status 400. */
  error?: string;
  mount?: 'mounted' | 'notmounted' | 'nonremovable';
  maintenance?: string;
  fullInDays?: number;
  collection?: { schedule?: string; state?: string; agoSec?: number };
  failedSnapshots?: number;
}

export interface BackupHost {
  stores: Datastore[];
  rights: 'audit' | 'none' | 'no-remotes';
  syncs: { id: string; store: string; state?: string }[];
  verifications: { id: string; store: string; state?: string }[];
  failedTasks: { store: string; group: string; status: string; agoSec: number }[];
  /** An old version without the direction of syncs and without the list of garbage collections. */
  isOld: boolean;
}

const datastore = (name: string, full: number): Datastore => ({
  name,
  full,
  namespaces: [],
  groups: [
    { id: 'vm/101', ageHours: 8 },
    { id: 'vm/102', ageHours: 9 },
    { id: 'ct/103', ageHours: 10 },
  ],
  collection: { schedule: 'daily', state: 'OK', agoSec: 3_600 },
});

/** Two datastores with twelve namespaces. */
export const backupHost = (): BackupHost => ({
  stores: [
    { ...datastore('nas1', 0.6), namespaces: ['east', 'west', 'north', 'south', 'lab', 'dev'] },
    { ...datastore('nas2', 0.3), namespaces: ['a', 'b', 'c', 'd', 'e', 'f'] },
  ],
  rights: 'audit',
  syncs: [{ id: 's-offsite', store: 'nas1', state: 'OK' }],
  verifications: [{ id: 'v-nas1', store: 'nas1', state: 'OK' }],
  failedTasks: [],
  isOld: false,
});

const TB = 10 ** 12;

export const backupAnswers =
  (host: BackupHost): ProductAnswers =>
  (path, query, now) => {
    const { stores, isOld } = host;
    const visible = (rows: unknown[]): ProductAnswer => ({ data: host.rights === 'none' ? [] : rows });
    const may = (data: unknown): ProductAnswer =>
      host.rights === 'none' ? { status: 403, reason: 'Forbidden', body: 'permission check failed' } : { data };
    const bad = (text: string): ProductAnswer => ({ status: 400, reason: 'Bad Request', body: text });
    const collectionOf = ({ name, collection }: Datastore) => ({
      store: name,
      'disk-bytes': TB,
      'still-bad': 0,
      ...(collection?.schedule !== undefined && { schedule: collection.schedule, 'next-run': now + 3_600 }),
      ...(collection?.state !== undefined && {
        'last-run-state': collection.state,
        'last-run-endtime': now - (collection.agoSec ?? 0),
      }),
    });
    const job = ({ id, store, state }: { id: string; store: string; state?: string }) => ({
      id,
      store,
      schedule: 'daily',
      ...(state !== undefined && { 'last-run-state': state, 'last-run-endtime': now - 3_600, 'next-run': now + 3_600 }),
    });
    switch (path) {
      case '/version':
        return { data: { version: '4.2', release: '1', repoid: 'b2c3' } };
      case '/status/datastore-usage':
        return visible(
          stores.map((store) => ({
            store: store.name,
            'mount-status': store.mount ?? 'nonremovable',
            ...(store.error === undefined
              ? {
                  total: 10 * TB,
                  used: store.full * 10 * TB,
                  avail: (1 - store.full) * 10 * TB,
                  history: [0.5, null, 0.6],
                }
              : { error: store.error }),
            ...(store.fullInDays !== undefined && {
              'estimated-full-date': store.fullInDays === 0 ? 0 : now + store.fullInDays * 86_400,
            }),
          })),
        );
      case '/admin/datastore':
        return visible(
          stores.map(({ name, maintenance, mount }) => ({
            store: name,
            'mount-status': mount ?? 'nonremovable',
            ...(maintenance !== undefined && { maintenance }),
          })),
        );
      case '/nodes/localhost/status':
        return may({
          cpu: 0.02,
          wait: 0.01,
          loadavg: [0.1, 0.2, 0.1],
          memory: { total: 32e9, used: 6e9 },
          swap: { total: 8e9, used: 0 },
          root: { total: 100e9, used: 20e9 },
          uptime: 86_400,
        });
      case '/admin/gc':
        return isOld ? undefined : visible(stores.map(collectionOf));
      case '/admin/verify':
        return visible(host.verifications.map(job));
      case '/admin/sync':
        if (isOld && query.has('sync-direction'))
          return bad(
            "parameter verification errors\n\nparameter 'sync-direction': schema does not allow additional properties.",
          );
        return { data: host.rights === 'audit' ? host.syncs.map(job) : [] };
      case '/admin/prune':
        return visible(stores.map(({ name }) => job({ id: `p-${name}`, store: name, state: 'OK' })));
      case '/nodes/localhost/tasks':
        return visible(
          host.failedTasks.map(({ store, group, status, agoSec }) => ({
            upid: 'UPID:pbs:1',
            worker_type: 'backup',
            worker_id: `${store}:${group}`,
            starttime: now - agoSec - 60,
            endtime: now - agoSec,
            status,
            user: 'backup@pbs',
            node: 'pbs',
          })),
        );
      case '/nodes/localhost/subscription':
        return { data: { status: 'notfound', message: 'There is no subscription key' } };
      case '/nodes/localhost/apt/update':
        return may([{ Package: 'proxmox-backup-server', Version: '4.2.2', OldVersion: '4.2.1', Origin: 'Proxmox' }]);
      case '/nodes/localhost/disks/list':
        return may([
          { name: 'sda', devpath: '/dev/sda', model: 'Example', size: 4e12, status: 'passed', wearout: 98.5 },
        ]);
      case '/nodes/localhost/disks/zfs':
        return may([{ name: 'tank', health: 'ONLINE', size: 4e12, alloc: 1e12, free: 3e12, frag: 3, dedup: 1 }]);
      case '/access/permissions':
        return {
          data: {
            '/': host.rights === 'none' ? {} : { 'Sys.Audit': 1, 'Datastore.Audit': 1 },
            ...(host.rights === 'audit' && { '/remote': { 'Remote.Audit': 1 } }),
          },
        };
    }
    const [, admin, kind, name, what] = path.split('/');
    if (admin !== 'admin' || kind !== 'datastore') return undefined;
    const store = stores.find((one) => one.name === name);
    if (!store || host.rights === 'none') return { status: 403, reason: 'Forbidden', body: 'permission check failed' };
    if (store.error !== undefined) return bad(store.error);
    const ns = query.get('ns') ?? '';
    const groups = store.groups.map(({ id, ageHours, comment }) => ({
      'backup-type': id.split('/')[0],
      'backup-id': id.split('/')[1],
      'last-backup': now - ageHours * 3_600,
      'backup-count': 14,
      files: ['drive-scsi0.img.fidx'],
      owner: 'backup@pbs',
      ...(comment !== undefined && { comment }),
    }));
    switch (what) {
      case 'namespace':
        return { data: [{ ns: '' }, ...store.namespaces.map((one) => ({ ns: one }))] };
      case 'groups':
        return ns === '' || store.namespaces.includes(ns) ? { data: groups } : bad(`namespace not found: ${ns}`);
      case 'snapshots':
        return {
          data: groups.map((group, n) => ({
            ...group,
            'backup-time': now - 3_600,
            size: 10 ** 9,
            protected: false,
            verification: { state: n < (store.failedSnapshots ?? 0) ? 'failed' : 'ok', upid: 'UPID:pbs:2' },
          })),
        };
      case 'gc':
        return { data: collectionOf(store) };
    }
    return undefined;
  };

export type BackupServer = ProductServer & { host: BackupHost };

export async function startBackupServer(host = backupHost(), options?: ProductOptions): Promise<BackupServer> {
  const server = await startProductServer('backup', backupAnswers(host), options);
  return Object.assign(server, { host });
}
