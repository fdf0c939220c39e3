import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this machine can limit the file size of a process: Linux with util-linux. */
export const canLimitFileSize = process.platform === 'linux';

/** Limits the files of a process to 16 bytes, as on a full disk. Returns a function that lifts the limit. */
export async function limitFileSize(pid = process.pid): Promise<() => Promise<void>> {
  const setLimit = async (bytes: string) => void (await run('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`]));
  await setLimit('16');
  return () => setLimit('unlimited');
}
