import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import type { Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortalError, unavailable } from '@portal/domain/errors';
import { MessageReader, writeParts } from './message.ts';
import { type Answer, type Begun, TaskError, type TaskErrorReason, type TaskLimits } from './task.ts';

const program = fileURLToPath(new URL('sandbox-program.ts', import.meta.url));
/** How often the memory of a busy process is checked. */
const memoryCheckMs = 50;
/** In steps of Unix niceness: where processors are short, a process gets a third of the time of one that is five steps before it. */
const stepsBehind = 5;
const stderrLimit = 4 * 1024;

/** Shares this process's compile cache, which halves the start time of a process. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node appends a folder for its release to the configured folder.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** A process that runs one task at a time, until it dies or exceeds a limit. */
export class SandboxProcess {
  /** Number of tasks so far. */
  tasks = 0;
  isAlive = true;
  /** Resident memory after the last task that ran long enough to grow much. */
  residentMb = 0;
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #ended: Promise<unknown>;
  readonly #loadMs: number;
  #task: {
    limits: TaskLimits;
    hasBegun: boolean;
    timer: NodeJS.Timeout;
    resolve: (output: unknown) => void;
    reject: (reason: unknown) => void;
  } | null = null;
  /** The limit for which we killed the process. */
  #verdict: { reason: TaskErrorReason; about: string } | null = null;
  #stderr = '';

  constructor({ heapMb, loadMs }: { heapMb: number; loadMs: number }) {
    this.#loadMs = loadMs;
    this.#child = spawn(process.execPath, ['--max-semi-space-size=4', `--max-old-space-size=${heapMb}`, program], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // It needs none of our settings, least of all the keys.
      env: process.platform === 'win32' ? undefined : compileCache(),
      windowsHide: true,
    });
    // Requests come first: several processes that start at once would otherwise take the processors from this one.
    if (this.#child.pid !== undefined)
      setPriority(this.#child.pid, Math.min(getPriority() + stepsBehind, constants.priority.PRIORITY_LOW));
    this.#ended = once(this.#child, 'close').catch(() => undefined);
    this.#child.on('error', (cause) =>
      this.#die(unavailable('This cannot be done right now. Please try again later.', cause)),
    );
    this.#child.on('close', (code, signal) => this.#die(this.#causeOfDeath(code, signal)));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrLimit);
    });
    this.#channel = this.#child.stdio[3] as Socket;
    // The exit of the process says more.
    this.#channel.on('error', () => undefined);
    const reader = new MessageReader(
      () => this.#task?.limits.maxOutputBytes ?? 0,
      (message) => this.#take(message as Begun | Answer),
    );
    this.#channel.on('data', (chunk: Buffer) => {
      if (this.#verdict !== null) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#kill('output', String(error));
      }
    });
    this.#keepAlive(false);
  }

  /** Sends an order and returns its output. Throws the task's refusal, or a TaskError. */
  async run(order: readonly Uint8Array[], limits: TaskLimits): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(
      // Nothing has looked at the input yet, so the machine is to blame.
      () => this.#kill('crashed', `Its code was not loaded within ${this.#loadMs} ms.`),
      this.#loadMs,
    );
    const task = { limits, hasBegun: false, timer, resolve, reject };
    this.#task = task;
    this.tasks += 1;
    this.#keepAlive(true);
    const startedAt = performance.now();
    const memoryCheck = setInterval(() => {
      void this.#memoryMb().then((memoryMb) => {
        if (memoryMb > limits.maxMemoryMb) this.#kill('memory', `It took ${Math.round(memoryMb)} MB.`);
      });
    }, memoryCheckMs);
    try {
      writeParts(this.#channel, order);
      return await promise;
    } finally {
      clearTimeout(task.timer);
      clearInterval(memoryCheck);
      if (performance.now() - startedAt > memoryCheckMs) this.residentMb = await this.#memoryMb();
      this.#task = null;
      this.#keepAlive(false);
    }
  }

  /** Resident memory; 0 where the system does not provide it. */
  async #memoryMb(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  }

  async end(): Promise<void> {
    this.isAlive = false;
    this.#child.kill('SIGKILL');
    this.#keepAlive(true);
    await this.#ended;
  }

  #take(message: Begun | Answer): void {
    if ('begun' in message) {
      this.#begin();
    } else if ('output' in message) {
      this.#task?.resolve(message.output);
    } else if ('refusal' in message) {
      const { code, message: text, ...options } = message.refusal;
      this.#task?.reject(new PortalError(code, text, options));
    } else {
      this.#task?.reject(new TaskError('threw', message.failure.message));
    }
  }

  /** The task's own time begins, once: the process may be in the hands of its input. */
  #begin(): void {
    if (this.#task === null || this.#task.hasBegun) return;
    const { timeoutMs } = this.#task.limits;
    clearTimeout(this.#task.timer);
    this.#task.hasBegun = true;
    this.#task.timer = setTimeout(() => this.#kill('timeout', `It took more than ${timeoutMs} ms.`), timeoutMs);
  }

  #kill(reason: TaskErrorReason, about: string): void {
    if (this.#task === null) return;
    this.#verdict ??= { reason, about };
    this.isAlive = false;
    this.#child.kill('SIGKILL');
  }

  #die(reason: Error): void {
    this.isAlive = false;
    this.#task?.reject(reason);
  }

  /** Why the process ended. */
  #causeOfDeath(code: number | null, signal: string | null): TaskError {
    if (this.#verdict !== null) return new TaskError(this.#verdict.reason, this.#verdict.about, signal);
    if (this.#stderr.includes('heap out of memory')) return new TaskError('memory', 'Its heap was full.', signal);
    const how = signal ?? `exit code ${code}`;
    return new TaskError('crashed', `Its process ended with ${how}. ${this.#stderr}`.trim(), signal);
  }

  /** Idle processes do not keep this one running; when it ends, the channel closes and they end too. */
  #keepAlive(isBusy: boolean): void {
    for (const handle of [this.#child, this.#channel, this.#child.stderr as Socket | null]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }
}
