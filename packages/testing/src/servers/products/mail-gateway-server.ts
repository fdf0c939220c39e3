import {
  type ProductAnswer,
  type ProductAnswers,
  type ProductOptions,
  type ProductServer,
  startProductServer,
} from './product-server.ts';

export interface Gateway {
  deferred: number;
  old: number;
  active: number;
  mails: number;
  spamOut: number;
  /** Stopped services. */
  down: string[];
  signatureAgeDays: number;
  peer: { connError?: string; inSync: boolean } | null;
  rights: 'audit' | 'qmanager' | 'none';
}

/** One of a pair of gateways. */
export const gateway = (): Gateway => ({
  deferred: 7,
  old: 0,
  active: 0,
  mails: 1_840,
  spamOut: 0,
  down: [],
  signatureAgeDays: 0,
  peer: { inSync: true },
  rights: 'audit',
});

const services = [
  'postfix',
  'pmg-smtp-filter',
  'pmgpolicy',
  'pmgdaemon',
  'pmgproxy',
  'postgres',
  'clamav-daemon',
  'clamav-freshclam',
];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number): string => String(n).padStart(2, '0');

function builtAt(epoch: number): string {
  const at = new Date(epoch * 1_000);
  return `${two(at.getUTCDate())} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()} ${two(at.getUTCHours())}-${two(at.getUTCMinutes())} +0000`;
}

const shape = (total: number, old: number) => ({
  domain: 'TOTAL',
  total: String(total),
  '5m': String(total - old),
  '640m': '0',
  '1280m+': String(old),
});

export const gatewayAnswers =
  (state: Gateway): ProductAnswers =>
  (path, query, now) => {
    const refused: ProductAnswer = {
      status: 403,
      reason: 'Permission check failed',
      body: JSON.stringify({ data: null, message: 'Permission check failed\n' }),
    };
    const forManagers = (data: unknown): ProductAnswer => (state.rights === 'none' ? refused : { data });
    const forAuditors = (data: unknown): ProductAnswer => (state.rights === 'audit' ? { data } : refused);
    const host = {
      uptime: '864000',
      insync: 1,
      cpu: 0.09,
      loadavg: ['0.1', '0.2', '0.1'],
      memory: { total: '8000000000', used: '2000000000' },
      swap: { total: 0, used: 0 },
      rootfs: { total: '50000000000', used: '9000000000' },
    };
    if (path === '/version') return { data: { version: '9.1.0', release: '9.1', repoid: 'c3d4' } };
    if (path === '/nodes') return { data: [{ node: 'pmg1' }] };
    if (path === '/config/cluster/status')
      return forManagers([
        { cid: 1, name: 'pmg1', ip: '192.0.2.21', type: 'master', ...host },
        ...(state.peer === null
          ? []
          : [
              {
                cid: 2,
                name: 'pmg2',
                ip: '192.0.2.22',
                type: 'node',
                ...(state.peer.connError === undefined
                  ? { ...host, insync: Number(state.peer.inSync) }
                  : { conn_error: state.peer.connError }),
              },
            ]),
      ]);
    if (path === '/statistics/mail')
      return forManagers({
        count: String(state.mails),
        count_in: String(state.mails),
        count_out: '0',
        spamcount_in: '12',
        spamcount_out: String(state.spamOut),
        viruscount_in: '1',
        viruscount_out: '0',
        bounces_in: '0',
      });
    if (path === '/quarantine/spamstatus' || path === '/quarantine/virusstatus')
      return forManagers({ count: '23', mbytes: 4, avgbytes: 2_000 });
    const [, nodes, name, ...rest] = path.split('/');
    if (nodes !== 'nodes' || (name !== 'pmg1' && name !== 'localhost')) return undefined;
    switch (rest.join('/')) {
      case 'status':
        return forManagers({ time: now, ...host, pmgversion: 'pmg-api/9.1.0' });
      case 'postfix/qshape': {
        const total = query.get('queue') === 'active' ? state.active : state.deferred;
        return forAuditors([
          shape(total, query.get('queue') === 'active' ? 0 : state.old),
          ...(total > 0 ? [{ ...shape(total, 0), domain: 'example.net' }] : []),
        ]);
      }
      case 'services':
        return forAuditors([
          ...services.map((service) => ({
            service,
            name: service,
            desc: service,
            'unit-state': 'enabled',
            ...(state.down.includes(service)
              ? { state: 'dead', 'active-state': 'failed' }
              : { state: 'running', 'active-state': 'active' }),
          })),
          {
            service: 'fetchmail',
            name: 'fetchmail',
            state: 'dead',
            'unit-state': 'disabled',
            'active-state': 'inactive',
          },
          {
            service: 'pmg-hourly',
            name: 'pmg-hourly',
            state: 'success',
            'unit-state': 'enabled',
            'active-state': 'inactive',
          },
        ]);
      case 'clamav/database':
        return forAuditors([
          { name: 'main', type: 'main', version: 62, nsigs: 6_647_427, build_time: '16 Sep 2021 08-32 -0400' },
          {
            name: 'daily',
            type: 'daily',
            version: 27_600,
            nsigs: 2_000_000,
            build_time: builtAt(now - state.signatureAgeDays * 86_400),
          },
        ]);
      case 'spamassassin/rules':
        return forAuditors([
          { channel: 'updates.spamassassin.org', version: '1', last_updated: now - 86_400, update_avail: 0 },
        ]);
      case 'subscription':
        return forAuditors({ status: 'notfound', message: 'There is no subscription key' });
      case 'apt/update':
        return forAuditors([]);
      case 'tasks':
        return forAuditors([]);
    }
    return undefined;
  };

export type MailGatewayServer = ProductServer & { gateway: Gateway };

export async function startMailGatewayServer(state = gateway(), options?: ProductOptions): Promise<MailGatewayServer> {
  const server = await startProductServer('mail-gateway', gatewayAnswers(state), options);
  return Object.assign(server, { gateway: state });
}
