import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

// Below the ephemeral port ranges of Linux, macOS and Windows
const lowest = 20_000;
const highest = 30_000;

/** The port of the last start if it is still free, else another free port, which is stored for the next start. */
export async function choosePort(folder: string): Promise<number> {
  const path = join(folder, 'port');
  const storedPort = Number(await readFile(path, 'utf8').catch(() => ''));
  if (storedPort >= 1024 && storedPort <= 65_535 && (await isFree(storedPort))) return storedPort;
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(lowest, highest);
    if (!(await isFree(port))) continue;
    await writeFile(path, `${port}\n`);
    return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest} was found in 100 attempts.`);
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  return promise;
}
