import { invalid } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import type { RateLimit } from '@portal/platform/rate-limit';
import { runUploadTask } from '@portal/platform/sandbox/run-upload-task';
import { type Task, TaskError, type TaskLimits } from '@portal/platform/sandbox/task';

const perUser: RateLimit = { name: 'accounting uploads per user', max: 120, windowSec: MINUTE / SECOND };

/** Limits of every upload task. The longest preview of 100,000 lines has about 40 MB. */
export const taskLimits: TaskLimits = { timeoutMs: 20 * SECOND, maxMemoryMb: 400, maxOutputBytes: 64 * 1024 * 1024 };

/**
 * Processes an upload in a sandbox. Throws the errors of the task, 400 `FILE_UNREADABLE` for an upload that exceeds the limits, 429, and
 * 503 if too many tasks wait or the process was killed from outside.
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
