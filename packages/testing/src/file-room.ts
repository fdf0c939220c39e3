import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine lets a process be bound: it is Linux, with util-linux. */
export const canLoseFileRoom = process.platform === 'linux';

/** Lets the files of a process grow to 16 bytes and no further, as on a full disk; answers how it gets its room back. */
export async function loseFileRoom(pid = process.pid): Promise<() => Promise<void>> {
  const limit = async (bytes: string) => void (await run('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`]));
  await limit('16');
  return () => limit('unlimited');
}
