import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '@portal/platform/config';
import { wrongSettingsExit } from '@portal/platform/exit-codes';
import { serviceBinary } from '@portal/testing/services';
import { scripts } from './document-commands.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const analyze = serviceBinary('systemd-analyze');

/** A unit's settings in order, and the name that an instance of it is started under. */
function readUnit(file: string, started: string) {
  const text = read(`docs/operations/systemd/${file}`);
  const instance = /@(.*)\.service$/.exec(started)?.[1] ?? '';
  const lines = text
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => ({
      name: line.slice(0, line.indexOf('=')),
      value: line.slice(line.indexOf('=') + 1).replaceAll('%i', instance),
    }));
  const all = (name: string): string[] => lines.filter((line) => line.name === name).map(({ value }) => value);
  return { started, text, lines, all, one: (name: string): string | undefined => all(name).at(-1) };
}

const api = readUnit('portal-api@.service', 'portal-api@3000.service');
const worker = readUnit('portal-worker@.service', 'portal-worker@9464.service');
const migration = readUnit('portal-migrate.service', 'portal-migrate.service');
const units = [api, worker, migration];

describe('the units', () => {
  it('run the commands in package.json, by a path', () => {
    expect(units.map((unit) => unit.one('ExecStart'))).toEqual(
      ['start:api', 'start:worker', 'migrate'].map((name) => `/usr/local/bin/${scripts[name]}`),
    );
  });

  it('set their port and folder by valid settings', () => {
    const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
    const given = { DATABASE_URL: 'postgres://localhost/portal', SESSION_SECRET: key, SECRETS_KEYS: key };
    const configOf = (unit: typeof api) => {
      const own = Object.fromEntries(
        unit
          .one('Environment')
          ?.split(' ')
          .map((pair) => pair.split('=')) ?? [],
      );
      expect(Object.keys(own).filter((name) => !read('.env.example').includes(`${name}=`))).toEqual([
        'MALLOC_ARENA_MAX',
      ]);
      return readConfig({ ...given, ...own });
    };
    expect(configOf(api)).toMatchObject({ http: { port: 3000 }, dataDir: `/var/lib/${api.one('StateDirectory')}` });
    expect(configOf(worker)).toMatchObject({ worker: { metricsPort: 9464 }, dataDir: configOf(api).dataDir });
  });

  it('give only the migration the login that owns the tables', () => {
    expect(units.map((unit) => unit.all('EnvironmentFile'))).toEqual([
      ['/etc/portal/portal.env'],
      ['/etc/portal/portal.env'],
      ['/etc/portal/portal.env', '/etc/portal/migration.env'],
    ]);
  });

  it('start a program that ended again, unless its settings are wrong', () => {
    for (const unit of [api, worker]) {
      expect(unit.one('Restart')).toBe('always');
      expect(unit.one('RestartPreventExitStatus')).toBe(String(wrongSettingsExit));
      expect(unit.one('After')).toContain(migration.started);
    }
    expect([migration.one('Type'), migration.one('Restart')]).toEqual(['oneshot', undefined]);
  });

  it('give a program more time to stop than it needs to drain, and signal it alone', () => {
    for (const unit of [api, worker]) {
      expect(Number(unit.one('TimeoutStopSec'))).toBeGreaterThan(20);
      expect(unit.one('KillMode')).toBe('mixed');
    }
  });

  it('limit the memory as Compose does', () => {
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
      services: Record<string, { mem_limit?: string }>;
    };
    expect(units.map((unit) => unit.one('MemoryMax')?.toLowerCase())).toEqual(
      ['api', 'worker', 'migrate'].map((name) => services[name]?.mem_limit),
    );
  });

  it('shut each program in the same way, and let only API and worker write files', () => {
    const walls = units.map(({ text }) => text.slice(text.indexOf('UMask='), text.indexOf('MemoryDenyWriteExecute=')));
    expect(walls[0]).toMatch(/\nProtectSystem=strict\n[^]*\nNoNewPrivileges=true\nCapabilityBoundingSet=\n/);
    expect(new Set(walls).size).toBe(1);
    expect(units.map((unit) => unit.one('StateDirectory'))).toEqual(['portal', 'portal', undefined]);
    for (const unit of units) expect(unit.lines.map(({ name }) => name)).not.toContain('ReadWritePaths');
  });
});

describe.skipIf(!analyze)('systemd', () => {
  /** Writes the units with paths of this machine. Returns their files. */
  function installed(): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'portal-test-units-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return units.map(({ started, text }) => {
      const file = join(folder, started);
      writeFileSync(
        file,
        text.replaceAll('/usr/local/bin/node', process.execPath).replaceAll('/opt/portal', root.replace(/\/$/, '')),
      );
      return file;
    });
  }

  it('finds no fault in the units', () => {
    const { status, stderr } = spawnSync(analyze ?? '', ['verify', '--man=no', ...installed()], { encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });

  it('finds a fault in a misspelled unit', () => {
    const [file = ''] = installed();
    writeFileSync(file, readFileSync(file, 'utf8').replace('MemoryMax=', 'MemoryMost='));
    expect(spawnSync(analyze ?? '', ['verify', '--man=no', file], { encoding: 'utf8' }).stderr).toContain('MemoryMost');
  });

  it.each(units.map(({ started }, n) => ({ started, n })))('finds $started exposed to 1.5 of 10 at most', ({ n }) => {
    const file = installed()[n] ?? '';
    const { status, stdout } = spawnSync(
      analyze ?? '',
      ['security', '--no-pager', '--offline=true', '--threshold=15', file],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      expect.stringContaining('Overall exposure level'),
    ]);
  });
});
