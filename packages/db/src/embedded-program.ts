import { spawn } from 'node:child_process';
import type { Account } from './embedded-account.ts';

export interface ProgramRun {
  args: string[];
  account: Account | null;
  timeoutMs: number;
  input?: string;
}

const outputLimit = 64 * 1024;

/** Runs one of PostgreSQL's programs to its end and returns its output. */
export async function runProgram(path: string, { args, account, timeoutMs, input }: ProgramRun): Promise<string> {
  const child = spawn(path, args, {
    ...serverSpawnOptions(account),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const append = (chunk: string) => {
    output = (output + chunk).slice(-outputLimit);
  };
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  // A program that dies early closes its input; its exit code says more than EPIPE
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.on('error', (cause) => reject(new Error(`${path} could not be started.`, { cause })));
  child.on('close', (code, signal) => {
    if (code === 0) resolve(output);
    else reject(new Error(`${path} ended with ${signal ?? `exit code ${code}`}:\n${output.trim()}`));
  });
  return promise;
}

/** Starts PostgreSQL's programs under their account, detached from the terminal and without our environment. */
export function serverSpawnOptions(account: Account | null) {
  return {
    ...account,
    // Ctrl-C in the terminal must not end the database before the apps that use it
    detached: process.platform !== 'win32',
    cwd: process.platform === 'win32' ? undefined : '/',
    env: process.platform === 'win32' ? undefined : { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    windowsHide: true,
  };
}
