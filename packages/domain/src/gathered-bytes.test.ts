import { expect, it } from 'vitest';
import { heldBytes } from '@portal/testing/held-bytes';
import { GatheredBytes } from './gathered-bytes.ts';

const pieces = 1_000_000;
const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

it('takes the memory of its bytes, regardless of the size of the pieces', () => {
  const gathered = new GatheredBytes();
  const before = heldBytes();
  for (let sent = 0; sent < pieces; sent += 1) gathered.add(Buffer.from([sent]), pieces);
  // Stored separately, the pieces would take a hundred times as much.
  expect(heldBytes() - before).toBeLessThan(20 * pieces);
  const all = bufferOf(gathered.take());
  expect(all.equals(Buffer.from(Array.from({ length: pieces }, (_, n) => n & 0xff)))).toBe(true);
  expect([all.buffer.byteLength, gathered.length]).toEqual([pieces, 0]);
});

it('allocates no more than the expected size for two small pieces', () => {
  const gathered = new GatheredBytes();
  gathered.add(Buffer.from('ab'), 5);
  gathered.add(Buffer.from('cde'), 5);
  const all = bufferOf(gathered.take());
  expect([all.toString(), all.buffer.byteLength]).toEqual(['abcde', 5]);
});

it('does not change bytes it has returned', () => {
  const gathered = new GatheredBytes();
  for (const piece of ['a', 'b']) gathered.add(Buffer.from(piece));
  const given = bufferOf(gathered.take());
  gathered.add(given.subarray(1));
  for (const piece of ['x', 'y']) gathered.add(Buffer.from(piece));
  expect([given.toString(), bufferOf(gathered.take()).toString()]).toEqual(['ab', 'bxy']);
});
