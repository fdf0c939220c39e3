import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, type IPodTemplateSpec, Namespace, Secret, Service } from 'kubernetes-models/v1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig, Settings, SettingsError } from '@portal/platform/config';
import { the } from '@portal/testing/the';
import { scripts } from './document-commands.ts';
import { environmentOfImage, last } from './read-dockerfile.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const models = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  PodDisruptionBudget,
  Secret,
  Service,
};
type Kind = keyof typeof models;
interface Manifest {
  apiVersion: string;
  kind: Kind;
  metadata: { name: string; namespace?: string };
}

const files = ['settings.yml', 'migration.yml', 'portal.yml'].map((name) => ({
  name,
  manifests: parseAllDocuments(read(`docs/operations/kubernetes/${name}`)).map(
    (document) => document.toJS() as Manifest,
  ),
}));
const manifests = files.flatMap((file) => file.manifests);
const objectOf = <Model extends Kind>(kind: Model, name: string): InstanceType<(typeof models)[Model]> =>
  the(manifests.find((one) => one.kind === kind && one.metadata.name === name)) as never;

const api = objectOf('Deployment', 'portal-api');
const worker = objectOf('Deployment', 'portal-worker');
const migration = objectOf('Job', 'portal-migration');
const settings = objectOf('ConfigMap', 'portal-settings').data ?? {};
const secrets = objectOf('Secret', 'portal-secrets').stringData ?? {};

const templateOf = ({ spec }: Deployment | Job): IPodTemplateSpec => the(spec?.template);
const containerOf = (one: Deployment | Job) => the(the(templateOf(one).spec).containers[0]);
const labelsOf = (one: Deployment | Job) => templateOf(one).metadata?.labels;
const programs = [api, worker, migration];

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { mem_limit?: string; healthcheck?: { test: string[] } }>;
};

/** What the schema refuses; null if it admits the manifest. */
function refusalOf(manifest: Manifest): string | null {
  try {
    new models[manifest.kind](manifest as never).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the compiler says against manifests: unlike the schema, it also knows that a misspelled field does not exist. */
async function complaintsAbout(checked: Manifest[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portal-test-manifests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const lines = checked.map(
    (manifest, n) =>
      `import type { I${manifest.kind} as Kind${n} } from 'kubernetes-models/${manifest.apiVersion}';\nexport const manifest${n}: Kind${n} = ${JSON.stringify(manifest)};`,
  );
  writeFileSync(join(folder, 'manifests.mts'), lines.join('\n'));
  const flags = '--noEmit --strict --skipLibCheck --module nodenext --target esnext --types node'.split(' ');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return promisify(execFile)(process.execPath, [compiler, ...flags, 'manifests.mts'], { cwd: folder }).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
}

describe('the manifests', () => {
  it.each(manifests.map((manifest) => ({ what: `${manifest.kind} ${manifest.metadata.name}`, manifest })))(
    'has a valid $what',
    ({ manifest }) => {
      expect(refusalOf(manifest)).toBeNull();
    },
  );

  it('have no field that Kubernetes does not know', async () => {
    expect(await complaintsAbout(manifests)).toBe('');
  });

  it('are checked for wrong values and for misspelled fields', async () => {
    const wrong = structuredClone(api) as unknown as Manifest & Deployment;
    Object.assign(containerOf(wrong), { ports: [{ containerPort: '3000' }] });
    expect(refusalOf(wrong)).toContain('containerPort must be integer');
    const misspelled = structuredClone(api) as unknown as Manifest & Deployment;
    Object.assign(containerOf(misspelled), { readynessProbe: {} });
    expect(await complaintsAbout([misspelled])).toMatch(/readynessProbe.* does not exist/);
  });

  it('stand in one namespace, which the first file makes', () => {
    const [namespace, ...others] = manifests;
    expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'portal' } });
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['portal']));
  });

  it('refer only to objects that an earlier or the same file makes', () => {
    const made = new Set<string>();
    for (const file of files) {
      for (const { kind, metadata } of file.manifests) made.add(`${kind} ${metadata.name}`);
      const text = JSON.stringify(file.manifests);
      const named = [
        ...text.matchAll(/"(?:secretRef|secretKeyRef)":\{"name":"([^"]*)"/g).map(([, name]) => `Secret ${name}`),
        ...text.matchAll(/"configMapRef":\{"name":"([^"]*)"/g).map(([, name]) => `ConfigMap ${name}`),
        ...text.matchAll(/"service":\{"name":"([^"]*)"/g).map(([, name]) => `Service ${name}`),
        ...text.matchAll(/"kind":"Deployment","name":"([^"]*)"/g).map(([, name]) => `Deployment ${name}`),
      ];
      expect([...made]).toEqual(expect.arrayContaining(named));
    }
  });

  it('lead to the pods by their labels', () => {
    expect(api.spec?.selector.matchLabels).toEqual(labelsOf(api));
    expect(worker.spec?.selector.matchLabels).toEqual(labelsOf(worker));
    expect(objectOf('Service', 'portal-api').spec?.selector).toEqual(labelsOf(api));
    for (const [name, program] of [
      ['portal-api', api],
      ['portal-worker', worker],
    ] as const) {
      expect(objectOf('PodDisruptionBudget', name).spec?.selector?.matchLabels).toEqual(labelsOf(program));
      const [spread] = templateOf(program).spec?.topologySpreadConstraints ?? [];
      expect(spread?.labelSelector?.matchLabels).toEqual(labelsOf(program));
    }
    expect(labelsOf(api)).not.toEqual(labelsOf(worker));
  });

  it('leave one pod of each program when another one is evicted or replaced', () => {
    const replicas = [objectOf('HorizontalPodAutoscaler', 'portal-api').spec?.minReplicas, worker.spec?.replicas];
    expect(replicas).toEqual([2, 2]);
    for (const name of ['portal-api', 'portal-worker'])
      expect(objectOf('PodDisruptionBudget', name).spec?.maxUnavailable).toBe(1);
    // An own number would undo that of the autoscaler with every release.
    expect(api.spec).not.toHaveProperty('replicas');
    expect(api.spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });
});

describe('the pods', () => {
  it('run the three commands of one image', () => {
    expect(programs.map((program) => containerOf(program).command?.join(' '))).toEqual(
      ['start:api', 'start:worker', 'migrate'].map((name) => scripts[name]),
    );
    expect(new Set(programs.map((program) => containerOf(program).image)).size).toBe(1);
  });

  it('get valid settings once the secrets are entered', () => {
    const given = { ...environmentOfImage, ...settings, ...secrets };
    expect(() => readConfig(given)).toThrow(SettingsError);
    const key = Buffer.alloc(32, 7).toString('base64');
    const entered = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace(/k1:CHANGE_ME/, `k1:${key}`)]),
    );
    const config = readConfig({ ...entered, WORKER_METRICS_PORT: containerOf(worker).env?.[0]?.value });
    expect(config.http).toMatchObject({ host: '0.0.0.0', port: containerOf(api).ports?.[0]?.containerPort });
    expect(config.worker.metricsPort).toBe(containerOf(worker).ports?.[0]?.containerPort);
    expect(containerOf(api).volumeMounts?.map(({ mountPath }) => mountPath)).toContain(config.dataDir);
    expect(new URL(config.http.publicUrl).host).toBe(objectOf('Ingress', 'portal').spec?.rules?.[0]?.host);
  });

  it('get only settings that exist, and a login that owns the tables only in the migration', () => {
    const owner = objectOf('Secret', 'portal-migration').stringData ?? {};
    const direct = programs.flatMap((program) => containerOf(program).env?.map(({ name }) => name) ?? []);
    for (const name of [settings, secrets, owner].flatMap((one) => Object.keys(one)).concat(direct))
      expect(Object.keys(Settings.shape)).toContain(name);
    expect(Object.keys(owner)).toEqual(['DATABASE_MIGRATION_URL']);
    expect(JSON.stringify([api, worker])).not.toContain('portal-migration');
    expect(containerOf(migration).env?.map(({ name }) => name)).toEqual(['DATABASE_URL', 'DATABASE_MIGRATION_URL']);
  });

  it('are asked on routes that need no sign-in, at a port that they declare', () => {
    const { livenessProbe, readinessProbe, startupProbe, ports } = containerOf(api);
    const access = read('apps/api/test/access.txt');
    const asked = [livenessProbe, readinessProbe, startupProbe].map((probe) => probe?.httpGet);
    expect(asked.map((get) => get?.path)).toEqual(['/health', '/health/ready', '/health']);
    for (const get of asked) {
      expect(access).toMatch(new RegExp(`^GET ${get?.path} open `, 'm'));
      expect(ports?.map(({ name }) => name)).toContain(get?.port);
    }
    expect(objectOf('Service', 'portal-api').spec?.ports?.[0]?.targetPort).toBe(ports?.[0]?.name);
    expect(['CMD', ...(containerOf(worker).livenessProbe?.exec?.command ?? [])]).toEqual(
      compose.services['worker']?.healthcheck?.test,
    );
  });

  it('get more time to stop than they wait and drain', () => {
    const drainSec = 20;
    for (const program of [api, worker]) {
      const waitSec = containerOf(program).lifecycle?.preStop?.sleep?.seconds ?? 0;
      expect(templateOf(program).spec?.terminationGracePeriodSeconds).toBeGreaterThan(waitSec + drainSec);
    }
  });

  it('have as much memory as under Compose', () => {
    const limits = programs.map((program) => containerOf(program).resources?.limits?.['memory']);
    const composed = ['api', 'worker', 'migrate'].map((name) => compose.services[name]?.mem_limit);
    expect(limits).toEqual(composed.map((limit) => limit?.replace('m', 'Mi').replace('g', 'Gi')));
  });

  it('run as the account of the image, with no more rights than the strictest profile admits', () => {
    for (const program of programs) {
      const { securityContext, automountServiceAccountToken } = the(templateOf(program).spec);
      expect(`${securityContext?.runAsUser}:${securityContext?.runAsGroup}`).toBe(last('USER'));
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(automountServiceAccountToken).toBe(false);
      expect(containerOf(program).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});
