type Subject =
  | 'certificate'
  | 'subscription'
  | 'version'
  | 'quorum'
  | 'node'
  | 'memory'
  | 'root'
  | 'swap'
  | 'disk'
  | 'pool'
  | 'replication'
  | 'storage'
  | 'fullIn'
  | 'maintenance'
  | 'guest'
  | 'unbacked'
  | 'backup'
  | 'backupAge'
  | 'verification'
  | 'synchronization'
  | 'prune'
  | 'collection'
  | 'availability'
  | 'task'
  | 'queue'
  | 'service'
  | 'signatures'
  | 'mail'
  | 'quarantine'
  | 'other';

type Unit = 'percent' | 'days' | 'hours' | 'count' | null;

export interface RuleSubject {
  subject: Subject;
  /** The name of the thing, such as a node or a storage; empty if there is only one. */
  name: string;
  /** What the value of the rule counts. */
  unit: Unit;
}

const units: Partial<Record<Subject, Unit>> = {
  certificate: 'days',
  subscription: 'days',
  signatures: 'days',
  fullIn: 'days',
  memory: 'percent',
  root: 'percent',
  swap: 'percent',
  storage: 'percent',
  backupAge: 'hours',
  unbacked: 'count',
  task: 'count',
  queue: 'count',
  verification: 'count',
};

/** Subjects of a node or of the server itself: `node:pve1:memory`, `host:memory`. */
const partsOfHost: Record<string, Subject> = {
  memory: 'memory',
  root: 'root',
  swap: 'swap',
  subscription: 'subscription',
  certificate: 'certificate',
  disk: 'disk',
  disks: 'disk',
  pool: 'pool',
  pools: 'pool',
  replication: 'replication',
};

const subjects: Record<string, Subject> = {
  certificate: 'certificate',
  subscription: 'subscription',
  version: 'version',
  quorum: 'quorum',
  cluster: 'node',
  host: 'node',
  replication: 'replication',
  storage: 'storage',
  storages: 'storage',
  datastore: 'storage',
  datastores: 'storage',
  namespaces: 'storage',
  guest: 'guest',
  guests: 'guest',
  unbacked: 'unbacked',
  backups: 'backup',
  'backup-jobs': 'backupAge',
  groups: 'backupAge',
  'backup-tasks': 'task',
  tasks: 'task',
  verify: 'verification',
  snapshots: 'verification',
  sync: 'synchronization',
  prune: 'prune',
  gc: 'collection',
  ha: 'availability',
  queue: 'queue',
  service: 'service',
  services: 'service',
  signatures: 'signatures',
  'spam-rules': 'signatures',
  mail: 'mail',
  quarantine: 'quarantine',
};

/** Names that only tell rules of one subject apart and mean nothing to people. */
const innerNames = new Set(['deferred', 'active', 'old', 'flow', 'outgoing', 'fencing']);

/** What a rule of a server is about. Keys are a contract of the API; an unknown one is `other`. */
export function subjectOf(key: string): RuleSubject {
  const [first = '', ...rest] = key.split(':');
  const of = (subject: Subject, name: string): RuleSubject => ({ subject, name, unit: units[subject] ?? null });
  if (first === 'node' || (first === 'host' && rest.length > 0)) {
    const host = first === 'node' ? (rest.shift() ?? '') : '';
    const [part, ...names] = rest;
    if (part === undefined) return of('node', host);
    return of(partsOfHost[part] ?? 'other', [host, names.join(':')].filter((name) => name !== '').join(' '));
  }
  if (first === 'datastore' && rest.length > 1) {
    if (rest.at(-1) === 'full-in') return of('fullIn', rest.slice(0, -1).join(':'));
    if (rest.at(-1) === 'maintenance') return of('maintenance', rest.slice(0, -1).join(':'));
  }
  const subject = subjects[first] ?? 'other';
  const name = first === 'ha' && rest[0] === 'lrm' ? (rest[1] ?? '') : rest.join(':').replace(/:bad$/, '');
  return of(subject, innerNames.has(name) ? '' : name);
}
