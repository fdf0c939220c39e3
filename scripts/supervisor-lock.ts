import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isSameProcess, processIdentity } from '@portal/db/process-identity';

const attempts = 5;

/**
 * Takes the data folder for this process and gives back how to release it; throws when another process has it.
 * Whoever wants it puts a file named after itself into the folder `lock` and then looks: alone in there, it has it.
 * The name holds beyond the reuse of process numbers, so what a killed process left does not count.
 */
export async function lockDataFolder(dataDir: string): Promise<() => Promise<void>> {
  const folder = join(dataDir, 'lock');
  const identity = processIdentity(process.pid) ?? String(process.pid);
  const mine = join(folder, identity);
  await mkdir(folder, { recursive: true });
  for (let attempt = 1; ; attempt++) {
    await writeFile(mine, '');
    const others = (await readdir(folder)).filter((name) => name !== identity);
    const holder = others.find(isSameProcess);
    if (holder === undefined) {
      await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
      return () => rm(mine, { force: true });
    }
    await rm(mine, { force: true });
    if (attempt === attempts) {
      throw new Error(
        `Portal already runs on ${dataDir} (process ${Number.parseInt(holder, 10)}). Stop it first, or set DATA_DIR to another folder.`,
      );
    }
    // Two that look at the same moment both see the other and both step back; the next time they come apart
    await pause(20 + Math.random() * 100);
  }
}
