import type { ErrorCode } from '@portal/domain/error-codes';
import type { ErrorDetail } from '@portal/domain/errors';

/** Work for a sandbox process, and its limits. */
export interface Task<Input, Output> {
  /** The module that exports the work as `run`. */
  module: URL;
  limits: TaskLimits;
  /** Only carries the types. */
  readonly run?: (input: Input) => Output;
}

export interface TaskLimits {
  /** From the moment the task's code is loaded. */
  timeoutMs: number;
  /** Resident memory of the process; checked only on Linux. */
  maxMemoryMb: number;
  /** Size of the output. */
  maxOutputBytes: number;
}

/**
 * The task a module exports as `run`, a function of one value: `taskOf<typeof run>(new URL('decode.ts', import.meta.url), limits)`.
 * The task must be repeatable: if a process dies that has run other tasks before, the cause is unknown and the task runs again.
 */
export const taskOf = <Run extends (input: never) => unknown>(
  module: URL,
  limits: TaskLimits,
): Task<Parameters<Run>[0], Awaited<ReturnType<Run>>> => ({ module, limits });

export interface Order {
  module: string;
  input: unknown;
}

/** The process has loaded the task's code and begins. */
export interface Begun {
  begun: true;
}

export type Answer = { output: unknown } | { refusal: Refusal } | { failure: { message: string } };

/** A PortalError, as data. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  details?: ErrorDetail[];
  retryAfterSec?: number;
}

/**
 * Why a task failed, apart from its own refusals.
 * - `threw`: its code threw an error.
 * - `crashed`: its process ended, with `signal` if a signal ended it.
 * - `timeout`, `memory`, `output`: it exceeded a limit.
 */
export type TaskErrorReason = 'threw' | 'crashed' | 'timeout' | 'memory' | 'output';

const crashes: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP', 'SIGSYS']);

export class TaskError extends Error {
  readonly reason: TaskErrorReason;
  readonly signal: string | null;

  constructor(reason: TaskErrorReason, message: string, signal: string | null = null) {
    super(message);
    this.name = 'TaskError';
    this.reason = reason;
    this.signal = signal;
  }

  /** The cause: the input, the program, or outside, for example the kernel killed the process to free memory. */
  get fault(): 'input' | 'program' | 'outside' {
    if (this.reason === 'threw') return 'program';
    if (this.reason !== 'crashed') return 'input';
    if (this.signal === null) return 'program';
    return crashes.has(this.signal) ? 'input' : 'outside';
  }
}
