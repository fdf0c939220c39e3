import { describe, expect, it } from 'vitest';
import { lowestFreeName, shownFileName } from './tabs.ts';

describe('the name of a new tab', () => {
  it.each([
    [[], 'Dashboard 1'],
    [['Dashboard 1', 'Dashboard 2'], 'Dashboard 3'],
    [['Dashboard 2', 'Leitstelle'], 'Dashboard 1'],
    [['Dashboard 1', 'Dashboard 3', 'Dashboard 1'], 'Dashboard 2'],
    [['dashboard 1', 'Dashboard 01', 'Dashboard  1'], 'Dashboard 1'],
  ])('beside %j is %s', (names, name) => {
    expect(lowestFreeName(names)).toBe(name);
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
