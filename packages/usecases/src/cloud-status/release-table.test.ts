import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { openLog } from '@portal/platform/log';
import { openReleaseTable } from './release-table.ts';

const folder = await mkdtemp(join(tmpdir(), 'portal-test-releases-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

const tableOf = (latest: string, updatedAt = new Date().toISOString().slice(0, 10)) =>
  JSON.stringify({
    updatedAt,
    releases: [{ major: 40, latest, latestReleasedAt: '2026-11-01', supportEndsAt: null }],
  });

let files = 0;
function opened(path: string | null) {
  const lines: { level: string; msg: string }[] = [];
  const troubles: Record<string, boolean> = {};
  const log = openLog('warn', 'api', { write: (line: string) => void lines.push(JSON.parse(line)) });
  const metrics = {
    setReleaseTableTrouble: (trouble: string, isSo: boolean) => void (troubles[trouble] = isSo),
  } as Parameters<typeof openReleaseTable>[1]['metrics'];
  const { read } = openReleaseTable(path, { log, metrics });
  return { read, lines, troubles, latest: async () => (await read()).byMajor.get(40)?.latest };
}

async function fileOf(content: string): Promise<string> {
  const path = join(folder, `${(files += 1)}.json`);
  await writeFile(path, content);
  return path;
}

it('ships with the product', async () => {
  const { read, lines } = opened(null);
  const { newestMajor, byMajor } = await read();
  expect(newestMajor).toBe(35);
  expect(byMajor.get(34)).toMatchObject({ latest: '34.0.4', supportEndsAt: new Date('2027-06-09') });
  expect(lines.map(({ msg }) => msg)).not.toContain(expect.stringContaining('cannot be read'));
});

it('is replaced by a file and read again when that changes', async () => {
  const path = await fileOf(tableOf('40.0.1'));
  const { latest, troubles } = opened(path);
  expect(await Promise.all([latest(), latest()])).toEqual(['40.0.1', '40.0.1']);
  await writeFile(path, tableOf('40.0.2'));
  expect(await latest()).toBe('40.0.2');
  await rename(await fileOf(tableOf('40.0.3')), path);
  expect(await latest()).toBe('40.0.3');
  expect(troubles).toEqual({ unreadable: false, outdated: false });
});

it.each([
  ['not JSON', '{"updatedAt":'],
  ['other JSON', '[]'],
  ['far too large', ' '.repeat(1024 * 1024 + 1)],
])('in a file that is %s keeps the last good table and logs one warning', async (_what, broken) => {
  const path = await fileOf(tableOf('40.0.1'));
  const { latest, lines, troubles } = opened(path);
  await latest();
  await writeFile(path, broken);
  expect(await latest()).toBe('40.0.1');
  expect(await latest()).toBe('40.0.1');
  expect(lines).toHaveLength(1);
  expect(troubles['unreadable']).toBe(true);
  await writeFile(path, tableOf('40.0.2'));
  expect(await latest()).toBe('40.0.2');
  expect(troubles['unreadable']).toBe(false);
});

it('is the last good one when the file is gone, and the shipped one if there never was a file', async () => {
  const path = await fileOf(tableOf('40.0.1'));
  const { latest } = opened(path);
  await latest();
  await rm(path);
  expect(await latest()).toBe('40.0.1');
  const never = opened(join(folder, 'never.json'));
  expect((await never.read()).newestMajor).toBe(35);
  expect(never.troubles['unreadable']).toBe(true);
});

it('logs a warning once a day when it is older than 60 days', async () => {
  const path = await fileOf(tableOf('40.0.1', '2026-01-01'));
  const { read, lines, troubles } = opened(path);
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime('2026-03-02T23:00:00Z');
  await read();
  expect([lines.length, troubles['outdated']]).toEqual([0, false]);
  vi.setSystemTime('2026-03-03T01:00:00Z');
  await read();
  await read();
  expect([lines.length, troubles['outdated']]).toEqual([1, true]);
  vi.setSystemTime('2026-03-04T02:00:00Z');
  await read();
  expect(lines).toHaveLength(2);
});
