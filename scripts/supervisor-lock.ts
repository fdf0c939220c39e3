import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isSameProcess, processIdentity } from '@portal/db/process-identity';

const attempts = 5;

/**
 * Locks the data folder for this process and returns a function that releases it. Throws if another process holds the lock.
 * Each process puts a file named after its identity into the folder `lock`, then lists the folder: a process that is alone holds the lock.
 * The identity survives the reuse of process ids, so the file of a killed process does not count.
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
    // Two processes that list the folder at once both retreat; the random pause separates them
    await pause(20 + Math.random() * 100);
  }
}
