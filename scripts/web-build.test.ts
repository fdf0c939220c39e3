import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { budgetFaults, measure, type Size, sizeTable } from './web-budget.ts';
import { buildWeb, buildWebIfStale, FaultySource } from './web-build.ts';
import { isFresh } from './web-sources.ts';

const text = (bytes: number): string =>
  // Hardly compressible, so that its size after gzip is known roughly
  Array.from({ length: bytes / 4 }, (_, at) =>
    Math.trunc(Math.abs(Math.sin(at + bytes)) * 36 ** 5)
      .toString(36)
      .slice(-5),
  ).join('');

/** An app of a sign-in, a dashboard with its frame, and two pages that share a part. */
async function makeApp(more: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-web-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const app = join(folder, 'app');
  const page = (name: string) => `import { shared } from '../shared.ts'; export const page = () => shared('${name}');`;
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(app, path)), { recursive: true });
    await writeFile(join(app, path), content);
  };
  const sources = {
    'index.html': '<!doctype html><title>Portal</title><script type="module" src="/src/main.ts"></script>',
    'src/main.ts': "import './style.css'; import { routes } from './routes.ts'; console.log(routes);",
    'src/routes.ts': `export const routes = [
      () => import('./accounts/sign-in-page.tsx'),
      () => import('./signed-in.ts'),
      () => import('./reminders/reminders-page.tsx'),
      ...(import.meta.env.DEV ? [() => import('./ui/parts-page.tsx')] : []),
    ];`,
    'src/style.css': 'body { color: red }',
    'src/shared.ts': `export const shared = (name: string) => document.title + name + '${text(2_000)}';`,
    'src/accounts/sign-in-page.tsx': page('sign-in'),
    'src/dashboards/dashboard-page.tsx': page('dashboard'),
    'src/reminders/reminders-page.tsx': page('reminders'),
    'src/shell/frame.tsx': "export const frame = 'around';",
    'src/signed-in.ts':
      "export { page } from './dashboards/dashboard-page.tsx'; export { frame } from './shell/frame.tsx';",
    'src/ui/parts-page.tsx': page('parts'),
    ...more,
  };
  for (const [path, content] of Object.entries(sources)) await write(path, content);
  const build = { app, outDir: join(folder, 'dist'), mode: 'production' as const };
  const assets = async (): Promise<string[]> => readdir(join(build.outDir, 'assets'));
  const read = (path: string): string => readFileSync(join(build.outDir, path), 'utf8');
  const named = async (name: string): Promise<string> =>
    (await assets()).find((file) => file.startsWith(`${name}-`) && /\.(js|css)$/.test(file)) ?? '';
  return { folder, build, write, assets, read, named };
}

it('builds, compresses what is worth it, and says what it wrote', async () => {
  const { build, assets, read, named } = await makeApp();
  expect(await buildWeb(build)).toMatch(
    /^Built the pages in \d+\.\d s: 9 files, \d+ KB, compressed \d+ KB, in .*dist\.$/,
  );
  expect(read('index.html')).toMatch(/<script type="module".* src="\/assets\/index-.*\.js">/);
  const shared = await named('shared');
  const packed = (ending: string): Buffer => readFileSync(join(build.outDir, 'assets', shared + ending));
  for (const bytes of [brotliDecompressSync(packed('.br')), gunzipSync(packed('.gz'))])
    expect(bytes.toString()).toBe(read(join('assets', shared)));
  // Too small to be worth it
  expect((await assets()).filter((name) => name.startsWith('signed-in-'))).toHaveLength(1);
  expect(read('index.html')).not.toContain('parts-page');
  expect(await named('parts-page')).toBe('');
});

it('names the scripts that the dashboard needs beside the entry', async () => {
  const { build, read, named } = await makeApp();
  await buildWeb(build);
  const expected = await Promise.all(['signed-in', 'shared'].map(named));
  expect(JSON.parse(read('preload.json'))).toEqual({ dashboard: expected.map((name) => `/assets/${name}`).toSorted() });
});

it('builds again only after a source has changed', async () => {
  const { build, write } = await makeApp();
  expect(isFresh(build)).toBe(false);
  expect(await buildWebIfStale(build)).toMatch(/^Built/);
  expect([isFresh(build), await buildWebIfStale(build)]).toEqual([true, null]);
  expect(isFresh({ ...build, mode: 'development' })).toBe(false);
  await write('src/shared.ts', 'export const shared = (name: string) => `${name}!`;');
  expect(isFresh(build)).toBe(false);
  expect(await buildWebIfStale(build)).toMatch(/^Built/);
  await write('src/new.ts', '');
  expect(isFresh(build)).toBe(false);
});

it('keeps the assets of the build before for a day', async () => {
  const { build, write, named, assets } = await makeApp();
  await buildWeb(build);
  const [first, style] = [await named('reminders-page'), await named('index')];
  const change = async (content: string): Promise<void> => {
    await write('src/reminders/reminders-page.tsx', `export const page = '${content}';`);
    await buildWeb(build);
  };
  // Its own time is that of a build two days ago, but until now it was in use
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
  await utimes(join(build.outDir, 'assets', first), twoDaysAgo, twoDaysAgo);
  await change('second');
  expect(await assets()).toContain(first);
  await utimes(join(build.outDir, 'assets', first), twoDaysAgo, twoDaysAgo);
  await change('third');
  expect(await assets()).not.toContain(first);
  expect((await assets()).filter((name) => name.startsWith('reminders-page-'))).toHaveLength(2);
  expect(await assets()).toContain(style);
});

it('leaves the build before in place when a source is faulty, and says where', async () => {
  const { build, write, read } = await makeApp();
  await buildWeb(build);
  const before = read('index.html');
  await write('src/shared.ts', 'export const shared = ;;{');
  const fault = await buildWeb(build).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(FaultySource);
  expect((fault as FaultySource).line).toMatch(/Unexpected token.*src\/shared\.ts:1:23\)$/);
  expect((fault as FaultySource).message).not.toMatch(/\n\s+at /);
  expect((fault as FaultySource).message).not.toContain('\u001B');
  expect(read('index.html')).toBe(before);
  expect(await readdir(dirname(build.outDir))).toEqual(['app', 'dist']);
});

it('serves every file its page names at each moment of the next builds', async () => {
  const { build, write, read } = await makeApp();
  await buildWeb(build);
  let isOver = false;
  const reading = (async () => {
    let reads = 0;
    while (!isOver) {
      const [, entry = ''] = /src="\/(assets\/index-.*?\.js)"/.exec(read('index.html')) ?? [];
      const files = [entry, ...[...read(entry).matchAll(/assets\/[\w-]+\.js/g)].map(([file]) => file)];
      expect(files.filter((file) => !existsSync(join(build.outDir, file)))).toEqual([]);
      for (const path of (JSON.parse(read('preload.json')) as { dashboard: string[] }).dashboard)
        expect(existsSync(join(build.outDir, path))).toBe(true);
      reads += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return reads;
  })();
  for (const round of [1, 2, 3]) {
    await write('src/shared.ts', `export const shared = (name: string) => name + '${text(2_000 + round * 4)}';`);
    // Two starts at once
    await Promise.all([buildWeb(build), buildWeb(build)].map((each) => each.catch(() => null)));
  }
  isOver = true;
  expect(await reading).toBeGreaterThan(10);
  expect(isFresh(build)).toBe(true);
});

it('removes what a killed build left behind', async () => {
  const { build } = await makeApp();
  await mkdir(`${build.outDir}.new-4194999`, { recursive: true });
  await buildWeb(build);
  expect(await readdir(dirname(build.outDir))).toEqual(['app', 'dist']);
});

// `npm start` looks every time, before anything else
it('opens no source to see whether there is something to build', async () => {
  const { build, write } = await makeApp();
  const [path, time] = ['src/shared.ts', new Date('2026-11-01')];
  await utimes(join(build.app, path), time, time);
  await buildWeb(build);
  await write(path, ' '.repeat(statSync(join(build.app, path)).size));
  await utimes(join(build.app, path), time, time);
  expect(isFresh(build)).toBe(true);
});

describe('the budget', () => {
  const importing = (content: string) =>
    `import { shared } from '../shared.ts'; export const page = () => shared('${content}');`;
  const what = (sizes: Size[]): string[] => sizes.map((size) => size.what);

  it('of a small app is kept, and each page is listed with what it loads', async () => {
    const { build, named } = await makeApp();
    await buildWeb(build);
    const measured = measure(build);
    expect(what(measured.sizes)).toEqual([
      'Scripts to the sign-in',
      'Scripts to the dashboard',
      'Styles',
      'src/reminders/reminders-page.tsx',
    ]);
    expect(budgetFaults(measured)).toEqual([]);
    const sizeOf = async (...names: string[]): Promise<number> =>
      (await Promise.all(names.map(named)))
        .map((name) => gzipSync(readFileSync(join(build.outDir, 'assets', name)), { level: 9 }).length)
        .reduce((sum, size) => sum + size, 0);
    const [signIn, dashboard, , reminders] = measured.sizes;
    const entry = await sizeOf('index');
    expect(signIn?.bytes).toBe(entry + (await sizeOf('sign-in-page', 'shared')));
    expect(dashboard?.bytes).toBe(entry + (await sizeOf('signed-in', 'shared')));
    expect(reminders?.bytes).toBe(await sizeOf('reminders-page'));
    expect(reminders?.toOpen).toBe(await sizeOf('reminders-page', 'shared'));
    expect(sizeTable(measured)).toMatch(/^KB after gzip +own +limit to open\nScripts to the sign-in +\d\.\d +45\.0\n/);
  });

  it.each([
    ['Scripts to the sign-in', 'src/accounts/sign-in-page.tsx', importing(text(75_000)), 45],
    ['Scripts to the dashboard', 'src/dashboards/dashboard-page.tsx', importing(text(120_000)), 75],
    ['Scripts to the dashboard', 'src/shell/frame.tsx', `export const frame = '${text(120_000)}';`, 75],
    ['Styles', 'src/style.css', `body { --a: '${text(20_000)}' }`, 12],
    ['src/reminders/reminders-page.tsx', 'src/reminders/reminders-page.tsx', importing(text(50_000)), 30],
  ])('%s is exceeded by a large %s', async (name, path, content, limit) => {
    const { build } = await makeApp({ [path]: content });
    await buildWeb(build);
    const fault = new RegExp(`^${RegExp.escape(name)}: \\d+\\.\\d KB, but at most ${limit}\\.0 KB$`);
    expect(budgetFaults(measure(build))).toEqual([expect.stringMatching(fault)]);
  });

  it('is not kept by a dashboard that loads with the start', async () => {
    const { build } = await makeApp({
      'src/main.ts':
        "import { routes } from './routes.ts'; import { page } from './signed-in.ts'; console.log(routes, page);",
    });
    await buildWeb(build);
    expect(budgetFaults(measure(build))).toEqual([
      'src/signed-in.ts is no page of src/routes.ts, or loads with the start',
    ]);
  });
});
