import type { ErrorCode } from '@portal/domain/error-codes';
import type { ErrorDetail } from '@portal/domain/errors';

/** Work that is done in a process of its own, and what it may take. */
export interface Task<Input, Output> {
  /** Of the module that exports it as `run`. */
  module: URL;
  limits: TaskLimits;
  /** Stands for the types alone. */
  readonly run?: (input: Input) => Output;
}

export interface TaskLimits {
  timeoutMs: number;
  /** Resident memory of the process; only Linux tells it. */
  maxMemoryMb: number;
  /** Of what it answers. */
  maxOutputBytes: number;
}

/**
 * The task a module exports as `run`, a function of one value: `taskOf<typeof run>(new URL('decode.ts', import.meta.url), limits)`.
 * It must be one that may be done twice: where a process dies that has done others before, nobody knows whose fault it was.
 */
export const taskOf = <Run extends (input: never) => unknown>(
  module: URL,
  limits: TaskLimits,
): Task<Parameters<Run>[0], Awaited<ReturnType<Run>>> => ({ module, limits });

export interface Order {
  module: string;
  input: unknown;
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
 * Why a task came to nothing, other than by a refusal of its own.
 * - `threw`: an error in its code.
 * - `crashed`: its process ended, by `signal` where it was one.
 * - `timeout`, `memory`, `output`: it went beyond a limit.
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

  /** What to mend: the input, the program, or neither, because the process was ended from outside, as by a kernel short of memory. */
  get fault(): 'input' | 'program' | 'outside' {
    if (this.reason === 'threw') return 'program';
    if (this.reason !== 'crashed') return 'input';
    if (this.signal === null) return 'program';
    return crashes.has(this.signal) ? 'input' : 'outside';
  }
}
