import { spawn } from 'node:child_process';
import { unavailable } from '@portal/domain/errors';

const programOptions = ['--max-semi-space-size=1', '--max-old-space-size=64'];
const messageLimit = 4 * 1024;

/** Exit code of a program for an input it does not take (EX_DATAERR). */
export const notTaken = 65;

const crashes: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP', 'SIGSYS']);

export interface Ended {
  /** `refused` for an input the program does not take, or that makes it crash. */
  how: 'done' | 'refused' | 'timed out' | 'failed';
  output: Buffer;
  /** What it said besides, for the log. */
  cause: Error;
}

/**
 * Runs one of our programs on bytes that may be hostile, as a process of its own: its memory goes with it, and so does one that
 * crashes or never ends. Throws 503 when it cannot run.
 */
export async function runApart(
  program: string,
  input: Uint8Array,
  { timeoutMs, outputLimit }: { timeoutMs: number; outputLimit: number },
): Promise<Ended> {
  const child = spawn(process.execPath, [...programOptions, program], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // It needs none of our settings, the keys among them least of all.
    env: process.platform === 'win32' ? undefined : {},
    windowsHide: true,
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);

  const chunks: Buffer[] = [];
  let outputBytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    outputBytes += chunk.byteLength;
    if (outputBytes <= outputLimit) chunks.push(chunk);
    else child.kill('SIGABRT');
  });
  let message = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    message = (message + chunk).slice(-messageLimit);
  });
  // A program that ends early closes its input; how it ended tells more than EPIPE.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);

  const ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
  child.on('error', (cause) => ended.reject(cannotRun(cause)));
  child.on('close', (code, signal) => ended.resolve({ code, signal }));
  try {
    const { code, signal } = await ended.promise;
    const output = Buffer.concat(chunks);
    const cause = new Error(`${program} ended with ${signal ?? `exit code ${code}`}. ${message}`.trim());
    if (timedOut) return { how: 'timed out', output, cause };
    if (code === notTaken || (signal !== null && crashes.has(signal))) return { how: 'refused', output, cause };
    // Ended from outside, as by a kernel short of memory.
    if (signal !== null) throw cannotRun(cause);
    return { how: code === 0 ? 'done' : 'failed', output, cause };
  } finally {
    clearTimeout(timer);
  }
}

const cannotRun = (cause: Error) =>
  unavailable('Pictures cannot be processed right now. Please try again later.', cause);
