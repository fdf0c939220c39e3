import { describe, expect, it } from 'vitest';
import { icoOf, pngIcon, svgIcon } from '../../testing/icons.ts';
import { tinyGif } from '../../testing/pictures.ts';
import { readIcon } from './icon-image.ts';

const bitmap = Buffer.concat([Buffer.from([40, 0, 0, 0]), Buffer.alloc(60)]);

describe('an icon', () => {
  it.each<[string, Buffer, string]>([
    ['a PNG', pngIcon(), 'image/png'],
    ['a GIF', tinyGif, 'image/gif'],
    ['an ICO of a PNG', icoOf(pngIcon()), 'image/x-icon'],
    ['an ICO of bitmaps', icoOf(bitmap, bitmap), 'image/x-icon'],
  ])('is %s as it is', (_name, bytes, type) => {
    expect(readIcon(bytes)).toEqual({ type, bytes });
  });

  it('is an SVG without what does not draw', () => {
    const icon = readIcon(svgIcon('<path d="M0" onload="alert(1)"/><script>alert(1)</script>'));
    expect(icon?.type).toBe('image/svg+xml');
    expect(Buffer.from(icon?.bytes ?? []).toString()).toBe(svgIcon('<path d="M0"/>').toString());
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('GIF or PNG')],
    ['a web page', Buffer.from('<!doctype html><svg></svg>')],
    ['a PNG cut off', pngIcon().subarray(0, 60)],
    ['a PNG with an archive behind it', Buffer.concat([pngIcon(), Buffer.from('PK\x03\x04')])],
    ['a PNG of far too many pixels', pngIcon({ side: 4_097 })],
    ['more than 512 KiB', Buffer.concat([icoOf(Buffer.concat([bitmap, Buffer.alloc(512 * 1024)]))])],
    ['an ICO of nothing', icoOf()],
    ['an ICO of something else', icoOf(Buffer.from('<script>alert(1)</script>'))],
    ['an ICO cut off', icoOf(pngIcon()).subarray(0, 40)],
    ['an ICO with a page behind it', Buffer.concat([icoOf(pngIcon()), Buffer.from('<script>')])],
    ['an SVG that breaks off', svgIcon().subarray(0, 30)],
  ])('is not %s', (_name, bytes) => {
    expect(readIcon(bytes)).toBeNull();
  });
});
