import { buffer } from 'node:stream/consumers';
import type { DavCollection } from '@portal/connectors/calendar/read-dav';
import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { longestWaitMs } from '@portal/platform/answer-in-time';
import type { TenantContext } from '@portal/platform/context';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { type Task, TaskError, taskOf } from '@portal/platform/sandbox/task';
import { openSemaphore } from '@portal/platform/semaphore';
import type { run as readDav } from './dav-task.ts';

export const tooBusy = (cause?: unknown) =>
  unavailable('Too many calendars are being read right now. Please try again in a few seconds.', cause);

const inSlot = resource(() => openSemaphore({ ...callLimits.calendarReadings, refusal: tooBusy }));

/**
 * Processes answers of calendar servers in the sandbox, one task per user at a time. Waits up to 15 s for a slot and calls `read` only
 * then, so that waiting tasks hold no input in memory. Null if the input ends the process or cannot be read.
 */
export const runCalendarTask = <Input, Output>(
  ctx: TenantContext,
  userId: string,
  task: Task<Input, Output>,
  read: () => Promise<Input>,
): Promise<Output | null> => {
  const until = performance.now() + longestWaitMs;
  const work = async () => {
    try {
      return await ctx.sandbox.run(task, await read(), { tenantId: ctx.tenantId, ownerId: userId }, until);
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      if (error.fault === 'outside') throw tooBusy(error);
      ctx.log.warn({ tenantId: ctx.tenantId, reason: error.reason }, 'a calendar cannot be read');
      return null;
    }
  };
  return inSlot(ctx)(work, { key: userId, until });
};

/** A calendar file is missing: replaced by a newer one, or lost. */
export class MissingFileError extends Error {
  readonly path: string;

  constructor(path: string) {
    super('A calendar file is missing.');
    this.name = 'MissingFileError';
    this.path = path;
  }
}

/** The bytes of a stored file. Throws a MissingFileError. */
export async function bytesOf({ files }: Pick<TenantContext, 'files'>, path: string): Promise<Buffer> {
  const file = await files.open(path);
  if (!file) throw new MissingFileError(path);
  return buffer(file.stream);
}

/** The size of a stored file in bytes; null if it is missing. */
export async function sizeOf({ files }: Pick<TenantContext, 'files'>, path: string): Promise<number | null> {
  const file = await files.open(path, () => 'none');
  return file?.sizeBytes ?? null;
}

const limits = { timeoutMs: 10 * SECOND, maxMemoryMb: 400 };
const davModule = new URL('dav-task.ts', import.meta.url);
const reading = taskOf<typeof readDav>(davModule, { ...limits, maxOutputBytes: 16 * 1024 * 1024 });

/** The collections in a calendar server's answer. */
export const parseCollectionsInSandbox = (
  ctx: TenantContext,
  userId: string,
  body: Buffer,
): Promise<DavCollection[] | null> =>
  runCalendarTask(ctx, userId, reading, async () => ({ what: 'collections' as const, body })) as Promise<
    DavCollection[] | null
  >;

/** The events in a calendar server's answer, as one events file. Calls `read` for the answer once there is a slot. */
export const parseEventsInSandbox = (
  ctx: TenantContext,
  userId: string,
  read: () => Promise<Buffer>,
): Promise<Uint8Array | null> =>
  runCalendarTask(ctx, userId, reading, async () => ({
    what: 'events' as const,
    body: await read(),
  })) as Promise<Uint8Array | null>;
