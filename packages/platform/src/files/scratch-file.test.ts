import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openScratchFile } from './scratch-file.ts';

let dataDir = '';
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portal-scratch-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

it('leaves no name in the folder, and takes away that of a process which was killed', async () => {
  await writeFile(join(dataDir, 'scratch.0123456789ab.part'), '');
  await writeFile(join(dataDir, 'invoices.part'), 'kept');
  const file = await openScratchFile({ dataDir });
  try {
    expect(await readdir(dataDir)).toEqual(['invoices.part']);
    await file.write('content');
    expect((await file.read(Buffer.alloc(7), 0, 7, 0)).buffer.toString()).toBe('content');
  } finally {
    await file.close();
  }
});

it('is opened by many at once, each with content of its own', async () => {
  const files = await Promise.all(Array.from({ length: 50 }, () => openScratchFile({ dataDir })));
  try {
    await Promise.all(files.map((file, n) => file.write(`file ${n}`)));
    const read = await Promise.all(files.map(async (file) => (await file.read(Buffer.alloc(10), 0, 10, 0)).buffer));
    expect(read.map((bytes) => bytes.toString().replaceAll('\0', ''))).toEqual(files.map((_, n) => `file ${n}`));
    expect(await readdir(dataDir)).toEqual([]);
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
});
