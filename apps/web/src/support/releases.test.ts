import { expect, it } from 'vitest';
import { notesFor, type Release, releases } from './releases.ts';

const release = (version: string | null): Release => ({ version, date: null, notes: { de: [], en: [] } });
const versionsFor = (running: string, all: (string | null)[]) => {
  const { current, earlier } = notesFor(running, all.map(release));
  return [current && current.version, ...earlier.map(({ version }) => version)];
};

it.each([
  ['its own entry and those before it', '1.1.0', ['1.2.0', '1.1.0', '1.0.0'], ['1.1.0', '1.0.0']],
  ['its own entry under a leading v', 'v1.1.0', ['1.1.0'], ['1.1.0']],
  ['the entry without a number if it has none', '1.3.0', [null, '1.2.0'], [null, '1.2.0']],
  ['nothing but those before it if there is no entry', '1.3.0', ['1.2.0'], [null, '1.2.0']],
])('a release has %s', (_, running, all, versions) => {
  expect(versionsFor(running, all)).toEqual(versions);
});

it('says as much in German as in English', () => {
  for (const { notes } of releases) expect(notes.de.length).toBe(notes.en.length);
});
