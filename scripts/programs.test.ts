import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scripts } from './document-commands.ts';

const root = join(import.meta.dirname, '..');
const run = (name: string): string =>
  execFileSync('bash', ['--norc', '-c', scripts[name] ?? ''], { cwd: root, encoding: 'utf8' });

it.each(['bench', 'soak'])('pnpm %s lists its programs', (name) => {
  const [head, ...programs] = run(name).trim().split('\n');
  expect(head).toBe(`pnpm ${name} NAME, where NAME is one of`);
  expect(programs.length).toBeGreaterThan(5);
  for (const line of programs) expect(line).toMatch(/^ {2}[\w-]+ +\S/);
});

it('pnpm mails writes every mail', () => {
  expect(run('mails')).toMatch(/^\d{2,} mails written; open \S+index\.html\n$/);
});
