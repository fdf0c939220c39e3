import { randomBytes } from 'node:crypto';
import { fstatSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { FileReader } from './plain-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'portal-plain-'));
afterAll(() => rm(folder, { recursive: true }));
const place = join(folder, 'file');
const content = randomBytes(300_000);
await writeFile(place, content);

const opened = (start = 0, end = content.length - 1) => {
  const fd = openSync(place, 'r');
  return { fd, reader: new FileReader(fd, { start, end }) };
};

const isOpen = (fd: number): boolean => {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
};

it.each([
  [0, content.length - 1],
  [0, 0],
  [65_535, 65_536],
  [1, 131_072],
  [299_999, 299_999],
])('reads the bytes from %d to %d', async (start, end) => {
  const { reader, fd } = opened(start, end);
  expect((await buffer(reader)).equals(content.subarray(start, end + 1))).toBe(true);
  await vi.waitFor(() => expect(isOpen(fd)).toBe(false));
});

it('reads nothing before it is asked', async () => {
  const { reader } = opened();
  await setImmediate();
  expect(reader.readableLength).toBe(0);
  reader.destroy();
});

it('takes the memory of a piece again only when its receiver is done with it', async () => {
  for (const isDone of [true, false]) {
    const { reader } = opened();
    reader.reclaimMemory(() => isDone);
    const memory = new Set<ArrayBufferLike>();
    const pieces: Buffer[] = [];
    for await (const piece of reader as AsyncIterable<Buffer>) {
      memory.add(piece.buffer);
      pieces.push(Buffer.from(piece));
    }
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
    expect(memory.size).toBe(isDone ? 1 : 5);
  }
});

it('closes the file only after a read under way', async () => {
  const { reader, fd } = opened();
  reader.read();
  reader.destroy();
  expect(isOpen(fd)).toBe(true);
  await vi.waitFor(() => expect(isOpen(fd)).toBe(false));
  expect(reader.readableLength).toBe(0);
});

it('fails where the file ends early, and where it cannot be read', async () => {
  const { reader } = opened(0, content.length);
  await expect(buffer(reader)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const unreadable = new FileReader(openSync(folder, 'r'), { start: 0, end: 9 });
  await expect(buffer(unreadable)).rejects.toMatchObject({ code: 'EISDIR' });
});
