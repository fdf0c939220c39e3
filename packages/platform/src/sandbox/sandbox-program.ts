// The program of a sandbox process: runs one task after the other for its parent, over file descriptor 3, until the parent closes it.
import { writeFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { PortalError } from '@portal/domain/errors';
import { MessageReader, partsOf, writeParts } from './message.ts';
import type { Answer, Begun, Order } from './task.ts';

// If memory runs out, the kernel should kill this process rather than its parent. The file exists only on Linux.
await writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

type Run = (input: unknown) => unknown;
const tasks = new Map<string, Promise<{ run: Run }>>();

const channel = new Socket({ fd: 3, readable: true, writable: true });
const reader = new MessageReader(
  () => Infinity,
  (order) => {
    const { module, input } = order as Order;
    const isFirst = !tasks.has(module);
    void answerTo(module, input).then((answer) => {
      writeParts(channel, partsOf(answer));
      // Flush now, because the process ends by a signal: without the cache, each process would compile everything again.
      if (isFirst) flushCompileCache();
    });
  },
);
channel.on('data', (chunk: Buffer) => reader.push(chunk));
channel.on('close', () => process.exit());
// The parent is gone.
channel.on('error', () => process.exit());

async function answerTo(module: string, input: unknown): Promise<Answer> {
  try {
    const loaded = tasks.get(module) ?? (import(module) as Promise<{ run: Run }>);
    tasks.set(module, loaded);
    const { run } = await loaded;
    writeParts(channel, partsOf({ begun: true } satisfies Begun));
    return { output: await run(input) };
  } catch (error) {
    if (!(error instanceof PortalError)) {
      return { failure: { message: error instanceof Error ? (error.stack ?? error.message) : String(error) } };
    }
    const { code, message, details, retryAfterSec } = error;
    return {
      refusal: {
        code,
        message,
        ...(details && { details }),
        ...(retryAfterSec !== undefined && { retryAfterSec }),
      },
    };
  }
}
