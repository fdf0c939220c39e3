// pnpm bench NAME, pnpm soak NAME: runs the program of that name. Without NAME, lists the programs.
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [folder, name, ...args] = process.argv.slice(2);
if (folder !== 'bench' && folder !== 'soak') {
  console.error('Usage: node scripts/run-program.ts bench|soak [NAME [arguments]]');
  process.exit(2);
}

const names = (await readdir(join(root, folder)).catch(() => []))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();

if (name === undefined) await list(folder, names);
else if (names.includes(name)) run(join(root, folder, `${name}.ts`), args);
else {
  console.error(`There is no ${folder} named ${name}.\n`);
  await list(folder, names);
  process.exitCode = 2;
}

/** Lists the names with the comment on the first line of each file. A file without such a comment is a helper of the others. */
async function list(kind: string, files: string[]): Promise<void> {
  const lines: string[] = [];
  const width = Math.max(...files.map((file) => file.length));
  for (const file of files) {
    const text = await readFile(join(root, kind, `${file}.ts`), 'utf8');
    const subject = /^\/\/ *(.*)/.exec(text)?.[1];
    if (subject) lines.push(`  ${file.padEnd(width)}  ${subject}`);
  }
  console.log(lines.length === 0 ? `There is nothing in ${kind}/ yet.` : `pnpm ${kind} NAME, where NAME is one of`);
  for (const line of lines) console.log(line);
}

function run(path: string, programArgs: string[]): void {
  const child = spawn(process.execPath, [path, ...programArgs], { stdio: 'inherit' });
  // The terminal signals both processes; a signal sent to this one alone must be passed on
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}
