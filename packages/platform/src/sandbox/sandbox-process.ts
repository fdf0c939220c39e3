import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortalError, unavailable } from '@portal/domain/errors';
import { MessageReader, writeParts } from './message.ts';
import { type Answer, TaskError, type TaskErrorReason, type TaskLimits } from './task.ts';

const program = fileURLToPath(new URL('sandbox-program.ts', import.meta.url));
/** How often the memory of a process at work is looked at. */
const lookMs = 50;
const messageLimit = 4 * 1024;

/** Where this process keeps what it compiled: reading that takes a process half the time of its start. */
function compiled(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node puts a folder of its release into the one it is told.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** A process that does one task at a time, until a limit ends it or it dies. */
export class SandboxProcess {
  /** Tasks it was given. */
  tasks = 0;
  isAlive = true;
  /** Resident memory after the last task that took long enough to grow much. */
  heldMb = 0;
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #ended: Promise<unknown>;
  #task: { limits: TaskLimits; resolve: (output: unknown) => void; reject: (reason: unknown) => void } | null = null;
  /** Why we ended it. */
  #verdict: { reason: TaskErrorReason; about: string } | null = null;
  #said = '';

  constructor(heapMb: number) {
    this.#child = spawn(process.execPath, ['--max-semi-space-size=4', `--max-old-space-size=${heapMb}`, program], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // It needs none of our settings, the keys among them least of all.
      env: process.platform === 'win32' ? undefined : compiled(),
      windowsHide: true,
    });
    this.#ended = once(this.#child, 'close').catch(() => undefined);
    this.#child.on('error', (cause) =>
      this.#die(unavailable('This cannot be done right now. Please try again later.', cause)),
    );
    this.#child.on('close', (code, signal) => this.#die(this.#post(code, signal)));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-messageLimit);
    });
    this.#channel = this.#child.stdio[3] as Socket;
    // How the process ended tells more.
    this.#channel.on('error', () => undefined);
    const reader = new MessageReader(
      () => this.#task?.limits.maxOutputBytes ?? 0,
      (answer) => this.#take(answer as Answer),
    );
    this.#channel.on('data', (chunk: Buffer) => {
      if (this.#verdict !== null) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#condemn('output', String(error));
      }
    });
    this.#hold(false);
  }

  /** Sends an order, and answers what came of it. Throws what the task refused, or a TaskError. */
  async run(order: readonly Uint8Array[], limits: TaskLimits): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#task = { limits, resolve, reject };
    this.tasks += 1;
    this.#hold(true);
    const startedAt = performance.now();
    const timer = setTimeout(
      () => this.#condemn('timeout', `It took more than ${limits.timeoutMs} ms.`),
      limits.timeoutMs,
    );
    const look = setInterval(() => {
      void this.#memoryMb().then((memoryMb) => {
        if (memoryMb > limits.maxMemoryMb) this.#condemn('memory', `It took ${Math.round(memoryMb)} MB.`);
      });
    }, lookMs);
    try {
      writeParts(this.#channel, order);
      return await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(look);
      if (performance.now() - startedAt > lookMs) this.heldMb = await this.#memoryMb();
      this.#task = null;
      this.#hold(false);
    }
  }

  /** Resident memory; 0 where nobody tells. */
  async #memoryMb(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'latin1').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  }

  async end(): Promise<void> {
    this.isAlive = false;
    this.#child.kill('SIGKILL');
    this.#hold(true);
    await this.#ended;
  }

  #take(answer: Answer): void {
    if ('output' in answer) {
      this.#task?.resolve(answer.output);
    } else if ('refusal' in answer) {
      const { code, message, ...options } = answer.refusal;
      this.#task?.reject(new PortalError(code, message, options));
    } else {
      this.#task?.reject(new TaskError('threw', answer.failure.message));
    }
  }

  #condemn(reason: TaskErrorReason, about: string): void {
    if (this.#task === null) return;
    this.#verdict ??= { reason, about };
    this.isAlive = false;
    this.#child.kill('SIGKILL');
  }

  #die(reason: Error): void {
    this.isAlive = false;
    this.#task?.reject(reason);
  }

  /** What a process died of. */
  #post(code: number | null, signal: string | null): TaskError {
    if (this.#verdict !== null) return new TaskError(this.#verdict.reason, this.#verdict.about);
    if (this.#said.includes('heap out of memory')) return new TaskError('memory', 'Its heap was full.', signal);
    const how = signal ?? `exit code ${code}`;
    return new TaskError('crashed', `Its process ended with ${how}. ${this.#said}`.trim(), signal);
  }

  /** An idle process keeps nobody from ending; its own end follows, because the channel closes. */
  #hold(isBusy: boolean): void {
    for (const handle of [this.#child, this.#channel, this.#child.stderr as Socket | null]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }
}
