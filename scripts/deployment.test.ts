import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { readConfig, Settings, SettingsError } from '@portal/platform/config';
import { openMetrics } from '@portal/platform/metrics';
import { serveMetrics } from '@portal/worker/metrics-server';
import { commandsOf } from './document-commands.ts';
import { environmentOfImage, every, image, type Instruction, last, stages } from './read-dockerfile.ts';
import { usualBuild } from './web-sources.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const missing = (paths: string[]): string[] => paths.filter((path) => !existsSync(`${root}${path}`));

const settingNames = Object.keys(Settings.shape);
const releaseNames = settingNames.filter((name) => name.startsWith('RELEASE_'));
const manifest = JSON.parse(read('package.json')) as { packageManager: string; scripts: Record<string, string> };
const { scripts } = manifest;

const stageNamed = (name: string): Instruction[] => stages.find(([from]) => from?.rest.endsWith(` AS ${name}`)) ?? [];

interface Service {
  image: string;
  build?: { context: string; args: Record<string, string> };
  command?: string[];
  environment?: Record<string, string | null>;
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  stop_grace_period?: string;
  mem_limit?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
  networks?: string[];
  volumes?: string[];
  ports?: string[];
  profiles?: string[];
  logging?: { options: Record<string, string> };
}

interface Compose {
  services: Record<'api' | 'worker' | 'migrate' | 'postgres' | 'redis' | 'mail', Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
}

const text = read('docker-compose.yml');
const compose = parse(text, { merge: true }) as Compose;
const services = Object.entries(compose.services);
const { api, worker, migrate, postgres, redis, mail } = compose.services;

/** Replaces `${NAME:-default}` and `${NAME:?message}` as Compose does. */
const interpolate = (value: string, env: Record<string, string>): string =>
  value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, operator: string, argument: string) => {
    if (env[name]) return env[name];
    if (operator === '?') throw new Error(argument);
    return argument;
  });

const settingsOf = (service: Service, env: Record<string, string>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(environmentOfImage).filter(([name]) => !releaseNames.includes(name))),
  ...Object.fromEntries(
    Object.entries(service.environment ?? {}).flatMap(([name, value]) => {
      // A name without a value passes the variable on, if it is set.
      const passed = value === null ? env[name] : interpolate(value, env);
      return passed === undefined ? [] : [[name, passed]];
    }),
  ),
});

const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const dotEnv = {
  POSTGRES_PASSWORD: 'abc123',
  POSTGRES_APP_PASSWORD: 'def456',
  PUBLIC_URL: 'https://portal.example.org',
  SESSION_SECRET: key,
  SECRETS_KEYS: key,
};

const accessOf = (path: string): string | undefined =>
  read('apps/api/test/access.txt')
    .split('\n')
    .find((line) => line.startsWith(`GET ${path} `));

describe('the Dockerfile', () => {
  it('uses the runtime and package manager of the checkout', () => {
    const bases = stages.map((stage) => every('FROM', stage)[0]?.split(' ')[0] ?? '');
    const outside = bases.filter((base) => stageNamed(base).length === 0);
    expect(new Set(outside)).toEqual(new Set([`node:${read('.node-version').trim()}-slim`]));
    expect(/ (pnpm@\S+)$/m.exec(read('Dockerfile'))?.[1]).toBe(manifest.packageManager);
  });

  it('installs the locked packages for every workspace package but the pages, without development packages', () => {
    const manifests = every('COPY', stageNamed('manifests')).flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    const workspace = globSync(['apps/*/package.json', 'packages/*/package.json'], { cwd: root });
    expect(manifests.toSorted()).toEqual(
      ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...workspace].toSorted(),
    );
    expect(every('RUN', stageNamed('packages')).join('\n')).toMatch(
      /pnpm install --prod --frozen-lockfile --filter '!@portal\/web' /,
    );
  });

  it('builds the pages and takes nothing else of them, not even what builds them', () => {
    const pages = stageNamed('pages');
    expect(every('RUN', pages).at(-1)).toBe(scripts['build:web']);
    const [app, built] = [usualBuild.app, usualBuild.outDir].map((path) => relative(root, path));
    const copied = every('COPY', pages).flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    expect(copied).toEqual(expect.arrayContaining([app, 'packages/client', 'tsconfig.base.json', 'scripts']));
    expect(every('COPY').filter((rest) => rest.includes('apps/web') || rest.startsWith('apps '))).toEqual([
      `--from=pages /app/${built} ${built}`,
    ]);
  });

  it('copies only paths that exist and that .dockerignore admits', () => {
    const [all, ...rules] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(all).toBe('*');
    const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    expect(missing(admitted)).toEqual([]);
    const copied = stages
      .flatMap((stage) => every('COPY', stage))
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    expect(missing(copied)).toEqual([]);
    expect(copied.filter((path) => !admitted.includes(path.split('/')[0] ?? ''))).toEqual([]);
  });

  it('contains every file that its sources import', () => {
    const sources = globSync(
      ['{apps,packages}/*/src/**/*.ts', 'scripts/{migrate,seed,reset-password,rotate-secrets}.ts'],
      {
        cwd: root,
      },
    );
    const leftOut = /from '[^']*\/(testing|test)\/[^']*'|from '[^']*\.test\.ts'/;
    expect(sources.filter((path) => !path.endsWith('.test.ts') && leftOut.test(read(path)))).toEqual([]);
  });

  it('never runs as root, and stores its data in a volume of its account', () => {
    expect(every('USER')).toEqual(['1000:1000']);
    const afterUser = image.slice(image.findIndex(({ keyword }) => keyword === 'USER') + 1);
    expect(afterUser.filter(({ keyword }) => ['RUN', 'COPY', 'ADD'].includes(keyword))).toEqual([]);
    expect(last('VOLUME')).toBe(environmentOfImage['DATA_DIR']);
  });

  it('starts the API directly, so that signals reach it', () => {
    expect((JSON.parse(last('CMD')) as string[]).join(' ')).toBe(scripts['start:api']);
    expect(every('ENTRYPOINT')).toEqual([]);
  });

  it('takes exactly the release settings as build arguments, with their defaults, and passes them on', () => {
    const defaults = releaseNames.map(
      (name) => `${name}=${Settings.shape[name as keyof typeof Settings.shape].parse(undefined) as string}`,
    );
    expect(every('ARG')).toEqual(defaults);
    for (const name of releaseNames) expect(environmentOfImage[name]).toBe(`$${name}`);
  });

  it('sets only existing settings, to valid values', () => {
    // The C library reads MALLOC_ARENA_MAX.
    for (const name of Object.keys(environmentOfImage)) expect([...settingNames, 'MALLOC_ARENA_MAX']).toContain(name);
    expect(
      readConfig({
        ...settingsOf({ image: '' }, {}),
        DATABASE_URL: 'postgres://localhost/portal',
        SESSION_SECRET: key,
        SECRETS_KEYS: key,
      }),
    ).toMatchObject({
      http: { host: '0.0.0.0', port: Number(last('EXPOSE')) },
      dataDir: '/data',
    });
  });

  it('checks its health on a route that needs no sign-in', () => {
    const path = /\+ '(\/[^']*)'/.exec(last('HEALTHCHECK'))?.[1] ?? '';
    expect(path).toBe('/health/ready');
    expect(accessOf(path)).toMatch(/ open/);
  });
});

describe('docker-compose.yml', () => {
  it('runs each of the three commands in package.json from one image', () => {
    expect(api.command?.join(' ')).toBe(scripts['start:api']);
    expect(worker.command?.join(' ')).toBe(scripts['start:worker']);
    expect(migrate.command?.join(' ')).toBe(scripts['migrate']);
    for (const service of [api, worker, migrate]) {
      expect(missing([service.command?.at(-1) ?? 'its program', `${service.build?.context ?? ''}/Dockerfile`])).toEqual(
        [],
      );
      expect(service.image).toBe(api.image);
      expect(Object.keys(service.build?.args ?? {})).toEqual(releaseNames);
    }
  });

  it('names only settings that exist', () => {
    for (const service of [api, worker, migrate]) {
      for (const name of Object.keys(service.environment ?? {})) expect(settingNames).toContain(name);
    }
    for (const name of Object.keys(postgres.environment ?? {}))
      expect(name).toMatch(/^POSTGRES_(USER|PASSWORD|DB|INITDB_ARGS)$/);
    for (const name of Object.keys(mail.environment ?? {})) expect(name).toMatch(/^MP_MAX_MESSAGES$/);
    expect(redis.environment).toBeUndefined();
    const interpolated = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    expect(
      interpolated.filter(
        (name) => !/^POSTGRES_(APP_)?PASSWORD$/.test(name ?? '') && !settingNames.includes(name ?? ''),
      ),
    ).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'gets a .env from docs/operating.md with every secret, readable by its owner only',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'portal-test-env-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const [block = ''] = commandsOf('docs/operating.md');
      const [write = ''] = block.split('docker compose');
      // The usual umask of an account, independent of the umask of this test
      spawnSync('bash', ['--norc', '-ec', `umask 022\n${write}`], { cwd: folder });
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
      const written = Object.fromEntries(
        readFileSync(join(folder, '.env'), 'utf8')
          .split('\n')
          .flatMap((line) => [...line.matchAll(/^(\w+)=(.+)$/g)].map(([, name, value]) => [name, value])),
      ) as Record<string, string>;
      expect(Object.keys(written).toSorted()).toEqual(Object.keys(dotEnv).toSorted());
      expect(() => readConfig(settingsOf(api, written))).not.toThrow();
    },
  );

  it('lets .env set every setting', () => {
    const fixedByImage = new Set([...Object.keys(environmentOfImage), 'WORKER_METRICS_PORT', 'DATABASE_MIGRATION_URL']);
    for (const service of [api, worker]) {
      const missing = settingNames.filter(
        (name) => !fixedByImage.has(name) && service.environment?.[name] === undefined,
      );
      expect(missing).toEqual([]);
    }
  });

  it.each(Object.keys(dotEnv))('says what to do when %s is missing', (name) => {
    const { [name as keyof typeof dotEnv]: _, ...others } = dotEnv;
    expect(() => [api, migrate].map((service) => settingsOf(service, others))).toThrow(`set ${name} in .env`);
  });

  it('gives the apps valid settings when only the secrets are set', () => {
    for (const service of [api, worker]) {
      const config = readConfig(settingsOf(service, dotEnv));
      expect(config.database.url.reveal()).toBe('postgres://portal_login:def456@postgres:5432/portal');
      expect(config.redis?.reveal()).toEqual({ kind: 'server', url: 'redis://redis:6379' });
      expect(config.http).toMatchObject({ host: '0.0.0.0', publicUrl: 'https://portal.example.org' });
      expect(config.smtp).toBeNull();
      expect(config.dataDir).toBe('/data');
    }
    expect(readConfig(settingsOf(worker, dotEnv)).worker.metricsPort).toBe(9464);
    expect(readConfig(settingsOf(api, dotEnv)).worker.metricsPort).toBeNull();
  });

  it('passes each setting of .env on to the apps', () => {
    const { smtp } = readConfig(
      settingsOf(api, {
        ...dotEnv,
        SMTP_HOST: 'mail',
        SMTP_PORT: '1025',
        SMTP_SECURITY: 'none',
        SMTP_FROM: 'portal@example.org',
      }),
    );
    expect(smtp).toMatchObject({ host: 'mail', port: 1025, security: 'none', fromAddress: 'portal@example.org' });
    expect(() => readConfig(settingsOf(worker, { ...dotEnv, LOG_LEVEL: 'loud' }))).toThrow(SettingsError);
  });

  it('serves the pages of the image unless .env names others or none', () => {
    const webDirWith = (env: Record<string, string>) => readConfig(settingsOf(api, { ...dotEnv, ...env })).webDir;
    expect([webDirWith({}), webDirWith({ WEB_DIR: '' }), webDirWith({ WEB_DIR: '/pages' })]).toEqual([
      usualBuild.outDir,
      null,
      '/pages',
    ]);
  });

  it('distinguishes a source that .env omits from one it turns off with an empty value', () => {
    const ofSources = (env: Record<string, string>) =>
      readConfig(settingsOf(worker, { ...dotEnv, ...env })).tenderSources;
    expect(ofSources({ TENDER_TED_URL: '' })).toMatchObject({ ted: null, bund: expect.stringMatching(/^https:/) });
    expect(ofSources({ TENDER_TED_URL: 'https://ted.example.org/search' }).ted).toBe('https://ted.example.org/search');
  });

  it('gives the migration only the database, and gives only the migration the login that owns the tables', () => {
    const { DATABASE_URL, DATABASE_MIGRATION_URL, ...others } = settingsOf(migrate, dotEnv);
    expect(Object.keys(others).toSorted()).toEqual(['DATA_DIR', 'HOST', 'MALLOC_ARENA_MAX', 'PORT']);
    expect(DATABASE_URL).toBe(settingsOf(api, dotEnv)['DATABASE_URL']);
    expect(DATABASE_MIGRATION_URL).toBe('postgres://portal:abc123@postgres:5432/portal');
    for (const service of [api, worker])
      expect(Object.values(settingsOf(service, dotEnv)).join('\n')).not.toContain('abc123');
    expect(postgres.environment?.['POSTGRES_USER']).toBe('portal');
    expect(migrate.networks).toEqual(['inside']);
    expect(migrate.restart).toBe('no');
  });

  it('starts the apps once the database is migrated and both stores answer', () => {
    for (const service of [api, worker]) {
      expect(service.depends_on).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        postgres: { condition: 'service_healthy' },
        redis: { condition: 'service_healthy' },
      });
    }
    expect(migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  });

  it('limits the memory of every service, and leaves an app memory beside its heap', () => {
    const megabytes = (limit = ''): number => Number.parseInt(limit, 10) * (limit.endsWith('g') ? 1024 : 1);
    for (const [name, service] of services) expect(service.mem_limit, name).toMatch(/^[1-9]\d*[mg]$/);
    for (const service of [api, worker]) {
      const heap = Number(/--max-old-space-size=(\d+)/.exec(service.command?.join(' ') ?? '')?.[1]);
      const beside = megabytes(service.mem_limit) - heap;
      expect(beside).toBeGreaterThanOrEqual(256);
      expect(beside).toBeLessThanOrEqual(512);
    }
    const [, inUse] = /--maxmemory (\d+)mb/.exec(redis.command?.join(' ') ?? '') ?? [];
    expect(megabytes(redis.mem_limit)).toBeGreaterThanOrEqual(2 * Number(inUse));
    expect(megabytes(postgres.mem_limit)).toBeGreaterThanOrEqual(1024);
  });

  it('lets the worker scale', () => {
    expect(worker).not.toHaveProperty('container_name');
    expect(worker).not.toHaveProperty('hostname');
    expect(worker.ports).toBeUndefined();
  });

  it('gives an app more time to stop than it needs to drain', () => {
    for (const service of [api, worker])
      expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThan(20);
  });

  it('restarts and health-checks every permanent service', () => {
    const permanent = services.filter(([name]) => name !== 'migrate');
    expect(permanent.filter(([, service]) => service.restart !== 'unless-stopped')).toEqual([]);
    // The image contains the health check of the API.
    expect(permanent.filter(([, service]) => !service.healthcheck?.test).map(([name]) => name)).toEqual(['api']);
  });

  it('checks health with a program of each image', () => {
    expect(worker.healthcheck?.test?.slice(0, 2)).toEqual(['CMD', 'node']);
    expect(postgres.healthcheck?.test?.[1]).toBe('pg_isready');
    expect(redis.healthcheck?.test?.[1]).toMatch(/^redis-cli /);
    expect(mail.healthcheck?.test?.[1]).toBe('/mailpit');
  });

  it('keeps jobs on disk and never evicts one', () => {
    const options = redis.command?.join(' ') ?? '';
    expect(options).toContain('--appendonly yes');
    expect(options).toContain('--maxmemory-policy noeviction');
    expect(redis.volumes).toEqual(['queues:/data']);
  });

  it('keeps the database where PostgreSQL 18 and later images look for it', () => {
    expect(postgres.image).toMatch(/^postgres:18-/);
    expect(postgres.volumes).toEqual(['database:/var/lib/postgresql']);
  });

  it('publishes only the API and, in the demo, the caught mails, both on this machine only', () => {
    expect(services.flatMap(([, service]) => service.ports ?? [])).toEqual([
      '127.0.0.1:${PORT:-3000}:3000',
      '127.0.0.1:8025:8025',
    ]);
    expect(compose.networks['inside']).toEqual({ internal: true });
    for (const service of [postgres, redis]) expect(service.networks).toEqual(['inside']);
    expect(mail.profiles).toEqual(['demo']);
    expect(services.filter(([, service]) => service.profiles).map(([name]) => name)).toEqual(['mail']);
  });

  it('limits every log and declares every volume', () => {
    for (const [, service] of services)
      expect(Object.keys(service.logging?.options ?? {})).toEqual(['max-size', 'max-file']);
    const used = services.flatMap(([, service]) => service.volumes ?? []);
    expect(new Set(used.map((volume) => interpolate(volume, {}).split(':')[0]))).toEqual(
      new Set(Object.keys(compose.volumes)),
    );
  });

  it('mounts the packages of the desktop app read-only into the API, from a volume or a folder', () => {
    const { desktopDir } = readConfig(settingsOf(api, dotEnv));
    const mounts = (env: Record<string, string>) => api.volumes?.map((volume) => interpolate(volume, env));
    expect(mounts({})).toContain(`desktop:${desktopDir}:ro`);
    expect(mounts({ DESKTOP_DIR: './packages' })).toContain(`./packages:${desktopDir}:ro`);
  });
});

describe('the health checks', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const listen = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return String((server.address() as AddressInfo).port);
  };

  const checks = [
    {
      name: 'of the API',
      port: 'PORT',
      path: '/health/ready',
      command: JSON.parse(last('HEALTHCHECK').replace(/^.*?CMD /, '')) as string[],
    },
    {
      name: 'of the worker',
      port: 'WORKER_METRICS_PORT',
      path: '/metrics',
      command: worker.healthcheck?.test?.slice(1) ?? [],
    },
  ];

  async function exitCode(command: string[], env: Record<string, string>): Promise<number> {
    const child = spawn(process.execPath, command.slice(1), { env, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  }

  it.each(checks)(
    '$name pass on an answer, and fail on an error and without a server',
    async ({ command, port, path }) => {
      expect(command[0]).toBe('node');
      const requested: (string | undefined)[] = [];
      const healthy = await listen((request, reply) => {
        requested.push(request.url);
        reply.end('ok');
      });
      const unhealthy = await listen((_, reply) => reply.writeHead(503).end());
      expect(await exitCode(command, { [port]: healthy })).toBe(0);
      expect(requested).toEqual([path]);
      expect(await exitCode(command, { [port]: unhealthy })).toBe(1);
      expect(await exitCode(command, { [port]: '1' })).toBe(1);
    },
  );

  it('of the worker pass on the metrics of a real worker', async () => {
    const metrics = openMetrics('worker', {
      pool: () => ({ total: 0, idle: 0, waiting: 0, max: 1 }),
      queues: async () => ({}),
    });
    const server = await serveMetrics(metrics, { port: 0, host: '127.0.0.1', token: null });
    const command = worker.healthcheck?.test?.slice(1) ?? [];
    expect(await exitCode(command, { WORKER_METRICS_PORT: String(server.port) })).toBe(0);
    server.close();
  });
});
