import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { figuresOf, programsOf } from './bench-figures.ts';

it.each([
  ['x, and y: ours 3.65 ms, limit 6.91 ms, ratio 0.53 (at most 3.0)', '0.53', true],
  ['x: ours 28 ms, limit 6.91 ms, ratio 4.05 (at most 3.0)', '4.05', false],
  ['x: ours 1,450 req/s, limit 2,000 req/s, ratio 0.72 (at least 0.65, aim 0.80)', '0.72', true],
  ['x: ours 1,200 req/s, limit 2,000 req/s, ratio 0.60 (at least 0.65, aim 0.80)', '0.60', false],
  ['x: ours 160 ms, limit 100 ms, ratio 1.60 (at most 2.0, and 150 ms at most)', '1.60', false],
  ['x: ours 140 ms, limit 100 ms, ratio 1.40 (at most 1.5, and 150 ms)', '1.40', true],
  ['x: ours 160 ms, limit 120 ms, ratio 1.33 (at most 1.5, and 150 ms)', '1.33', false],
  ['x: ours 1 s, limit 0 s, ratio Infinity (at most 2)', 'Infinity', false],
  ['x: ours NaN s, limit 2 s, ratio NaN (at most 2)', 'NaN', false],
  ['x: ours 1 s, limit 2 s, ratio 0.50 (for comparison)', '0.50', null],
  ['kept waiting, p99: 51.0 ms (at most 50)', '', false],
  ['kept waiting, p99: 49.9 ms (at most 50)', '', true],
])('the figure of "%s"', (line, ratio, holds) => {
  expect(figuresOf(line)).toMatchObject([{ ratio, holds }]);
});

it.each([
  ['1,450 notices/s (at least 100 a core)', ['1,450 notices/s'], [true]],
  [
    '22 uploads: event loop p99 60.1 ms (at most 50), longest 70 ms, memory 12 MB more (at most 64)',
    ['60.1 ms', '12 MB'],
    [false, true],
  ],
  ['GET /health meanwhile: p50 1.0 ms, p99 30.0 ms of 300 (p99 at most 25 ms)', ['30.0 ms'], [false]],
  ['API, 99th percentile: quiet 2 ms, meanwhile 9 ms (at most double, or under 50 ms)', [], []],
  ['5,000 requests, 100 at once at most', [], []],
])('the figures of "%s"', (line, ours, holds) => {
  const figures = figuresOf(line);
  expect(figures.map((figure) => figure.ours)).toEqual(ours);
  expect(figures.map((figure) => figure.holds)).toEqual(holds);
});

it('a program is what no other file names', async () => {
  const folder = new URL('../bench/', import.meta.url);
  const files: Record<string, string> = {};
  for (const file of await readdir(folder))
    files[file.replace(/\.ts$/, '')] = await readFile(new URL(file, folder), 'utf8');
  const programs = programsOf(files);
  expect(programs).toEqual(expect.arrayContaining(['me', 'start', 'queue-board', 'tender-search', 'invoices']));
  for (const name of programs)
    expect([name, files[name]]).toEqual([name, expect.stringMatching(/report\(|console\.log\(/)]);
  expect(programs.filter((name) => name.startsWith('bare-') || name === 'measure')).toEqual([]);
});
