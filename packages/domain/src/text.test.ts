import { describe, expect, it } from 'vitest';
import { shownFileName, shownLine } from './text.ts';

describe('foreign text', () => {
  it('becomes one line without direction marks and invisible characters', () => {
    expect(shownLine(' a\u202Eb\r\nc\u0000d \u2028 e\u00A0')).toBe('a b c d e');
    expect(shownLine('\u200B \n')).toBe('');
  });

  it('is cut between characters and stays well-formed', () => {
    expect(shownLine('x'.repeat(1_000_000))).toHaveLength(200);
    expect(shownLine('😀'.repeat(300))).toBe('😀'.repeat(200));
    expect(shownLine(`a\ud800b`)).toBe('a b');
    expect(shownLine('ab cd', 3)).toBe('ab');
  });
});

describe('the name of an uploaded file', () => {
  it.each([
    ['Übung im Grünen.jpg', 'Übung im Grünen.jpg'],
    ['../../etc/passwd', 'passwd'],
    [String.raw`C:\Bilder\fest.png`, 'fest.png'],
    ['a\r\nSet-Cookie: b\u0000.png', 'aSet-Cookie: b.png'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['\ud800.png', '.png'],
    [' \t ', 'picture.png'],
    ['folder/', 'picture.png'],
    [undefined, 'picture.png'],
    ['😀'.repeat(300), '😀'.repeat(200)],
  ])('%j is shown as %j', (name, shown) => {
    expect(shownFileName(name, 'picture.png')).toBe(shown);
  });
});
