import { expect, it } from 'vitest';
import { heldBytes } from '@portal/testing/held-bytes';
import { GatheredBytes } from './gathered-bytes.ts';

const pieces = 1_000_000;
const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

it('takes the memory of its bytes, whatever pieces they come in', () => {
  const gathered = new GatheredBytes();
  const before = heldBytes();
  for (let sent = 0; sent < pieces; sent += 1) gathered.add(Buffer.from([sent]), pieces);
  // As they came, they would take a hundred times as much.
  expect(heldBytes() - before).toBeLessThan(20 * pieces);
  const all = bufferOf(gathered.take());
  expect(all.equals(Buffer.from(Array.from({ length: pieces }, (_, n) => n & 0xff)))).toBe(true);
  expect([all.buffer.byteLength, gathered.length]).toEqual([pieces, 0]);
});

it('takes no more than is expected for a few bytes in two pieces', () => {
  const gathered = new GatheredBytes();
  gathered.add(Buffer.from('ab'), 5);
  gathered.add(Buffer.from('cde'), 5);
  const all = bufferOf(gathered.take());
  expect([all.toString(), all.buffer.byteLength]).toEqual(['abcde', 5]);
});

it('changes no byte of what it gave away', () => {
  const gathered = new GatheredBytes();
  for (const piece of ['a', 'b']) gathered.add(Buffer.from(piece));
  const given = bufferOf(gathered.take());
  gathered.add(given.subarray(1));
  for (const piece of ['x', 'y']) gathered.add(Buffer.from(piece));
  expect([given.toString(), bufferOf(gathered.take()).toString()]).toEqual(['ab', 'bxy']);
});
