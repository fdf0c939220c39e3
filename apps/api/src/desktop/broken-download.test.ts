import { createHash, hash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { writeManifest } from '@portal/usecases/desktop/write-manifest';
import { startApi } from '../../testing/process.ts';

const folder = await mkdtemp(join(tmpdir(), 'portal-desktop-'));
afterAll(() => rm(folder, { recursive: true }));
const bytes = randomBytes(60_000_000);
await writeFile(join(folder, 'Portal_1.4.2_amd64.AppImage'), bytes);
await writeManifest(folder, { version: '1.4.2', channel: 'live', commit: 'x' }, new Date());
const { url: databaseUrl } = await testDatabase();
const path = '/desktop/download/linux-x86_64';

it('a download breaks off when the API stops, and continues after the next start', { timeout: 90_000 }, async () => {
  const first = await startApi(databaseUrl, { DESKTOP_DIR: folder });
  const answer = await fetch(first.url + path);
  const tag = answer.headers.get('etag') ?? '';
  expect(tag).toBe(`"${hash('sha256', bytes)}"`);
  const reader = answer.body?.getReader();
  const received: Uint8Array[] = [];
  received.push((await reader?.read())?.value ?? new Uint8Array());
  // Reads nothing more until the process has ended: the bytes in transit by then are far less than the file.
  const stoppedAt = performance.now();
  await first.stop();
  expect(performance.now() - stoppedAt).toBeLessThan(20_000);
  await expect(
    (async () => {
      for (;;) {
        const piece = await reader?.read();
        if (!piece || piece.done) return;
        received.push(piece.value);
      }
    })(),
  ).rejects.toThrow();
  const got = received.reduce((sum, { length }) => sum + length, 0);
  expect(got).toBeGreaterThan(0);
  expect(got).toBeLessThan(bytes.length);

  const second = await startApi(databaseUrl, { DESKTOP_DIR: folder });
  const rest = await fetch(second.url + path, { headers: { range: `bytes=${got}-`, 'if-range': tag } });
  expect(rest.status).toBe(206);
  const whole = createHash('sha256');
  for (const piece of [...received, new Uint8Array(await rest.arrayBuffer())]) whole.update(piece);
  expect(`"${whole.digest('hex')}"`).toBe(tag);
  await second.stop();
});
