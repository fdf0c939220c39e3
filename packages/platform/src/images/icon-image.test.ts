import { afterAll, describe, expect, it } from 'vitest';
import { icoOf, pngIcon, svgIcon } from '@portal/testing/icons';
import { tinyGif } from '@portal/testing/pictures';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { openIconImages } from './icon-image.ts';

const bitmap = Buffer.concat([Buffer.from([40, 0, 0, 0]), Buffer.alloc(60)]);

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const of = (ownerId: string) => ({ tenantId: 'a', ownerId });
const readIcon = (bytes: Uint8Array, owner = 'anna') => openIconImages(sandbox).read(bytes, of(owner));

describe('an icon', () => {
  it.each<[string, Buffer, string]>([
    ['a PNG', pngIcon(), 'image/png'],
    ['a GIF', tinyGif, 'image/gif'],
    ['an ICO of a PNG', icoOf(pngIcon()), 'image/x-icon'],
    ['an ICO of bitmaps', icoOf(bitmap, bitmap), 'image/x-icon'],
  ])('is %s, unchanged', async (_name, bytes, type) => {
    expect(await readIcon(bytes)).toEqual({ type, bytes });
  });

  it('is an SVG, reduced to what draws', async () => {
    const icon = await readIcon(svgIcon('<path d="M0" onload="alert(1)"/><script>alert(1)</script>'));
    expect(icon?.type).toBe('image/svg+xml');
    expect(Buffer.from(icon?.bytes ?? []).toString()).toBe(svgIcon('<path d="M0"/>').toString());
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('GIF or PNG')],
    ['a web page', Buffer.from('<!doctype html><svg></svg>')],
    ['a PNG cut off in its header', pngIcon().subarray(0, 30)],
    ['a PNG of far too many pixels', pngIcon({ side: 4_097 })],
    ['more than 512 KiB', Buffer.concat([icoOf(Buffer.concat([bitmap, Buffer.alloc(512 * 1024)]))])],
    ['an ICO of nothing', icoOf()],
    ['an ICO of something else', icoOf(Buffer.from('<script>alert(1)</script>'))],
    ['an ICO cut off', icoOf(pngIcon()).subarray(0, 40)],
    ['an ICO with a page behind it', Buffer.concat([icoOf(pngIcon()), Buffer.from('<script>')])],
    ['an SVG that breaks off', svgIcon().subarray(0, 30)],
  ])('is not %s', async (_name, bytes) => {
    expect(await readIcon(bytes)).toBeNull();
  });
});

it('can have a larger limit and refuse ICO files', async () => {
  const read = (bytes: Uint8Array) =>
    openIconImages(sandbox).read(bytes, of('anna'), { maxBytes: 1024 * 1024, acceptsIco: false });
  const svgOf = (bytes: number) => svgIcon(`<path d="${'M0 0'.repeat(bytes / 4)}"/>`);
  expect(await read(svgOf(1_000_000))).toMatchObject({ type: 'image/svg+xml' });
  expect(await read(svgOf(1_100_000))).toBeNull();
  expect(await read(pngIcon())).toMatchObject({ type: 'image/png' });
  expect(await read(icoOf(pngIcon()))).toBeNull();
});

describe('a large SVG', () => {
  const large = svgIcon(`<path d="${'M0 0'.repeat(10_000)}" onload="alert(1)"/>`);
  /** Cleaning it takes 250 ms of processor time on a slow machine. */
  const slow = svgIcon(`<path ${Array.from({ length: 40_000 }, (_, index) => `a${index}=""`).join(' ')}/>`);

  it('is cleaned in a sandbox process', async () => {
    const icon = await readIcon(large);
    expect(Buffer.from(icon?.bytes ?? []).toString()).toBe(large.toString().replace(' onload="alert(1)"', ''));
  });

  it('is refused if cleaning takes too long', async () => {
    expect(await openIconImages(sandbox, 1).read(slow, of('anna'))).toBeNull();
  });

  it('leaves the work to the sandbox', async () => {
    const icons = openIconImages(sandbox);
    const took: number[] = [];
    // The least of three, because a garbage collection may still clean up after earlier test files.
    for (let time = 0; time < 3; time += 1) {
      const before = process.threadCpuUsage();
      await icons.read(slow, of('anna'));
      took.push(process.threadCpuUsage(before).user / 1_000);
    }
    // Passing the icon to the sandbox takes 20 ms.
    expect(Math.min(...took)).toBeLessThan(125);
  });

  it('waits for other icons of its owner, of which few may wait, but delays no other owner', async () => {
    const icons = openIconImages(sandbox);
    const answers = await Promise.allSettled([
      ...Array.from({ length: 6 }, () => icons.read(large, of('anna'))),
      icons.read(large, of('bert')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<string>(3).fill('fulfilled'),
      ...Array<string>(3).fill('rejected'),
      'fulfilled',
    ]);
    expect(answers[5]).toMatchObject({ reason: { kind: 'busy', retryAfterSec: 5 } });
  });
});
