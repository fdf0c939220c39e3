import { invalid } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import type { RateLimit } from '@portal/platform/rate-limit';
import { runUploadTask } from '@portal/platform/sandbox/run-upload-task';
import { type Task, TaskError, type TaskLimits } from '@portal/platform/sandbox/task';

const perUser: RateLimit = { name: 'accounting uploads per user', max: 120, windowSec: MINUTE / SECOND };

/** Of every task on an upload; the longest preview of a hundred thousand lines has some 40 MB. */
export const taskLimits: TaskLimits = { timeoutMs: 20 * SECOND, maxMemoryMb: 400, maxOutputBytes: 64 * 1024 * 1024 };

/**
 * Works on an upload in a process apart. Throws what the task refuses, 400 `FILE_UNREADABLE` for an upload that ends its process, 429, and
 * 503 when too many others wait or the process was ended from outside.
 */
export const workOnUpload = <Input, Output>(
  ctx: UserContext,
  task: Task<Input, Output>,
  input: Input,
): Promise<Output> =>
  runUploadTask(ctx, perUser, task, input).catch((error: unknown) => {
    if (!(error instanceof TaskError) || error.fault !== 'input') throw error;
    throw invalid('FILE_UNREADABLE', 'This file takes too much time or memory to read.', { cause: error });
  });
