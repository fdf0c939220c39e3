import {
  type ProductAnswer,
  type ProductAnswers,
  type ProductOptions,
  type ProductServer,
  startProductServer,
} from './product-server.ts';

export interface ClusterNode {
  name: string;
  online: boolean;
  memory: number;
  disk: number;
  /** Remaining days of the node's certificate; 365 by default. */
  certificateDays?: number;
}

export interface ClusterGuest {
  vmid: number;
  name: string;
  type: 'qemu' | 'lxc';
  node: string;
  running: boolean;
  onboot: boolean;
  tags?: string;
  lock?: string;
}

export interface ClusterStorage {
  name: string;
  shared: boolean;
  content: string;
  full: number;
  available: boolean;
}

/** The state of a cluster or a single host, from which the interface answers. */
export interface Cluster {
  /** Null for a single host. */
  name: string | null;
  quorate: boolean;
  nodes: ClusterNode[];
  guests: ClusterGuest[];
  storages: ClusterStorage[];
  /** The rights of the account. */
  rights: 'auditor' | 'none';
  backup: { schedule: string; lastBegunAgoSec: number | null; status: string } | null;
  unbacked: number[];
  services: { sid: string; node: string; state: string; requestState: string }[];
  managersReportedAgoSec: number;
}

const node = (name: string): ClusterNode => ({ name, online: true, memory: 0.4, disk: 0.2 });
const guest = (vmid: number, name: string, on: string, running = true): ClusterGuest => ({
  vmid,
  name,
  type: vmid % 2 === 0 ? 'lxc' : 'qemu',
  node: on,
  running,
  onboot: running,
});

/** Three nodes, six guests and a shared NFS storage. */
export const smallCluster = (): Cluster => ({
  name: 'nord',
  quorate: true,
  nodes: ['pve1', 'pve2', 'pve3'].map(node),
  guests: [
    guest(101, 'dc1', 'pve1'),
    guest(102, 'files', 'pve1'),
    guest(103, 'mail', 'pve2'),
    guest(104, 'web', 'pve2'),
    guest(105, 'erp', 'pve3'),
    guest(106, 'old', 'pve3', false),
  ],
  storages: [
    { name: 'local', shared: false, content: 'iso,vztmpl', full: 0.3, available: true },
    { name: 'nas', shared: true, content: 'backup,images', full: 0.55, available: true },
  ],
  rights: 'auditor',
  backup: { schedule: '21:00', lastBegunAgoSec: 6 * 3_600, status: 'OK' },
  unbacked: [],
  services: [{ sid: 'vm:103', node: 'pve2', state: 'started', requestState: 'started' }],
  managersReportedAgoSec: 5,
});

/** One node without a cluster. */
export const singleHost = (): Cluster => ({
  ...smallCluster(),
  name: null,
  nodes: [node('pve1')],
  guests: [guest(101, 'dc1', 'pve1'), guest(102, 'files', 'pve1')],
  services: [],
});

/** 300 guests, 60 of them stopped. */
export const largeCluster = (): Cluster => ({
  ...smallCluster(),
  guests: Array.from({ length: 300 }, (_, n) => guest(1_000 + n, `guest-${n}`, `pve${(n % 3) + 1}`, n >= 60)),
});

const GiB = 2 ** 30;

/** Answers from the state of the cluster at the time of the call. */
export const clusterAnswers =
  (cluster: Cluster): ProductAnswers =>
  (path, query, now) => {
    const has = (data: unknown): ProductAnswer => ({ data });
    const may = (data: unknown, right: string): ProductAnswer =>
      cluster.rights === 'none' ? forbidden(right) : { data };
    const visible = (rows: unknown[]): ProductAnswer => ({ data: cluster.rights === 'none' ? [] : rows });
    const { nodes, guests, backup } = cluster;
    switch (path) {
      case '/version':
        return has({ version: '9.2.11', release: '9.2', repoid: 'a1b2c3d4' });
      case '/cluster/status':
        return may(
          [
            ...(cluster.name === null
              ? []
              : [
                  {
                    type: 'cluster',
                    id: 'cluster',
                    name: cluster.name,
                    nodes: nodes.length,
                    quorate: Number(cluster.quorate),
                    version: 3,
                  },
                ]),
            ...nodes.map((one, n) => ({
              type: 'node',
              id: `node/${one.name}`,
              name: one.name,
              nodeid: n + 1,
              ip: `192.0.2.${n + 1}`,
              local: n === 0 ? 1 : 0,
              online: Number(one.online),
              level: '',
            })),
          ],
          '/, Sys.Audit',
        );
      case '/cluster/resources':
        return visible(resources(cluster));
      case '/cluster/tasks':
        return visible([
          {
            upid: 'UPID:1',
            node: 'pve1',
            type: 'qmstart',
            id: '101',
            user: 'root@pam',
            starttime: now - 7_200,
            endtime: now - 7_190,
            status: 'OK',
          },
        ]);
      case '/cluster/backup':
        return may(
          backup === null
            ? []
            : [
                {
                  id: 'backup-1',
                  enabled: '1',
                  schedule: backup.schedule,
                  'next-run': now + 3_600,
                  all: 1,
                  storage: 'nas',
                  mode: 'snapshot',
                },
              ],
          '/, Sys.Audit',
        );
      case '/cluster/backup-info/not-backed-up':
        return may(
          guests
            .filter(({ vmid }) => cluster.unbacked.includes(vmid))
            .map(({ vmid, name, type }) => ({ vmid, name, type })),
          '/, Sys.Audit',
        );
      case '/cluster/ha/status/current':
        return may(
          [
            { id: 'quorum', type: 'quorum', quorate: Number(cluster.quorate), status: 'OK', node: 'pve1' },
            ...nodes.map((one) => ({
              id: `lrm:${one.name}`,
              type: 'lrm',
              node: one.name,
              status: `${one.name} (active)`,
              timestamp: now - cluster.managersReportedAgoSec,
            })),
            ...cluster.services.map((one) => ({
              id: `service:${one.sid}`,
              type: 'service',
              sid: one.sid,
              node: one.node,
              state: one.state,
              crm_state: one.state,
              request_state: one.requestState,
            })),
          ],
          '/, Sys.Audit',
        );
      case '/access/permissions':
        return has(cluster.rights === 'none' ? {} : { '/': { 'Sys.Audit': 1, 'VM.Audit': 1, 'Datastore.Audit': 1 } });
    }
    const [, first, name, ...rest] = path.split('/');
    if (first !== 'nodes' || name === undefined) return undefined;
    const on = nodes.find((one) => one.name === name);
    if (!on) return { status: 500, reason: `hostname lookup '${name}' failed` };
    if (!on.online) return { status: 595, reason: 'No route to host' };
    const [kind, vmid, what] = rest;
    if ((kind === 'qemu' || kind === 'lxc') && what === 'config') {
      const found = guests.find((one) => one.vmid === Number(vmid) && one.node === name);
      if (!found)
        return { status: 500, reason: `Configuration file 'nodes/${name}/${kind}/${vmid}.conf' does not exist` };
      return may({ name: found.name, ...(found.onboot && { onboot: '1' }), digest: 'd0' }, `/vms/${vmid}, VM.Audit`);
    }
    switch (rest.join('/')) {
      case 'status':
        return may(
          {
            uptime: 864_000,
            cpu: 0.05,
            loadavg: ['0.12', '0.20', '0.18'],
            memory: { total: 64 * GiB, used: 25 * GiB },
            swap: { total: 8 * GiB, used: 0 },
            rootfs: { total: 100 * GiB, used: 20 * GiB },
            pveversion: 'pve-manager/9.2.11',
          },
          `/nodes/${name}, Sys.Audit`,
        );
      case 'subscription':
        return has({ status: 'notfound', message: 'There is no subscription key' });
      case 'certificates/info':
        return has(
          [
            ['pve-root-ca.pem', 3_650],
            ['pve-ssl.pem', on.certificateDays ?? 365],
          ].map(([filename, days]) => ({
            filename,
            subject: `/CN=${name}.example`,
            notbefore: now - 86_400,
            // One more hour, so that a slow test does not lose a day.
            notafter: now + Number(days) * 86_400 + 3_600,
          })),
        );
      case 'tasks':
        return visible(
          backup === null || backup.lastBegunAgoSec === null || query.get('typefilter') !== 'vzdump'
            ? []
            : [
                {
                  upid: `UPID:${name}:vzdump`,
                  node: name,
                  type: 'vzdump',
                  id: '',
                  user: 'root@pam',
                  starttime: now - backup.lastBegunAgoSec,
                  endtime: now - backup.lastBegunAgoSec + 600,
                  status: backup.status,
                },
              ],
        );
      case 'replication':
        return visible([]);
      case 'disks/list':
        return may(
          [{ devpath: '/dev/nvme0n1', model: 'Example', size: 10 ** 12, health: 'PASSED', wearout: 97 }],
          '/, Sys.Audit',
        );
      case 'disks/zfs':
        return may([{ name: 'rpool', size: 10 ** 12, alloc: 10 ** 11, health: 'ONLINE', frag: 4 }], '/, Sys.Audit');
      case 'apt/update':
        return forbidden(`/nodes/${name}, Sys.Modify`);
    }
    return undefined;
  };

const forbidden = (right: string): ProductAnswer => ({
  status: 403,
  reason: `Permission check failed (${right})`,
  body: JSON.stringify({ data: null, message: `Permission check failed (${right})\n` }),
});

function resources({ nodes, guests, storages }: Cluster): Record<string, unknown>[] {
  const isOnline = new Map(nodes.map(({ name, online }) => [name, online]));
  const rows = [
    ...nodes.map(({ name, online, memory, disk }) => ({
      id: `node/${name}`,
      type: 'node',
      node: name,
      status: online ? 'online' : 'offline',
      ...(online && {
        cpu: 0.07,
        maxcpu: 16,
        mem: memory * 64 * GiB,
        maxmem: 64 * GiB,
        disk: disk * 100 * GiB,
        maxdisk: String(100 * GiB),
        uptime: 864_000,
      }),
    })),
    ...guests.map(({ vmid, name, type, node: on, running, tags, lock }) => ({
      id: `${type}/${vmid}`,
      type,
      vmid,
      name,
      node: on,
      status: !isOnline.get(on) ? 'unknown' : running ? 'running' : 'stopped',
      template: 0,
      maxmem: 4 * GiB,
      mem: running ? GiB : 0,
      ...(tags !== undefined && { tags }),
      ...(lock !== undefined && { lock }),
    })),
    ...storages.flatMap(({ name, shared, content, full, available }) =>
      nodes.map((one) => ({
        id: `storage/${one.name}/${name}`,
        type: 'storage',
        storage: name,
        node: one.name,
        status: available && one.online ? 'available' : 'unknown',
        shared: Number(shared),
        content,
        disk: full * 1_000 * GiB,
        maxdisk: 1_000 * GiB,
      })),
    ),
  ];
  // The product answers in the random order of a hash.
  return rows.toSorted(() => Math.random() - 0.5);
}

export type VirtualizationServer = ProductServer & { cluster: Cluster };

export async function startVirtualizationServer(
  cluster = smallCluster(),
  options?: ProductOptions,
): Promise<VirtualizationServer> {
  const server = await startProductServer('virtualization', clusterAnswers(cluster), options);
  return Object.assign(server, { cluster });
}

/** An answer of almost 8 MiB with many nodes, each with unique fields: new names take longest to parse. */
export const hugeResources = (): Buffer => {
  const fields = (n: number) => Array.from({ length: 12 }, (_, at) => `"${(at + 10).toString(36)}${n}":1`).join();
  const row = (n: number) => `{"type":"node","node":"n${n}","status":"online",${fields(n)}}`;
  return Buffer.from(`{"data":[${Array.from({ length: 46_000 }, (_, n) => row(n)).join()}]}`);
};
