import { writeSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { invalid } from '@portal/domain/errors';
import { partsOf, writeParts } from '@portal/platform/sandbox/message';

interface TaskInput {
  act:
    | 'work'
    | 'echo'
    | 'refuse'
    | 'throw'
    | 'settings'
    | 'die'
    | 'exit'
    | 'hang'
    | 'begin-again'
    | 'fill-heap'
    | 'fill-memory'
    | 'answer-much'
    | 'die-later';
  ms?: number;
  value?: unknown;
}

const held: unknown[] = [];

/** A task for tests: performs the given act, including acts that end its process. */
export async function run({ act, ms = 0, value }: TaskInput): Promise<unknown> {
  switch (act) {
    case 'work': {
      const end = performance.now() + ms;
      while (performance.now() < end);
      return value;
    }
    case 'echo':
      return value;
    case 'refuse':
      throw invalid('UNSUPPORTED_IMAGE', 'This is not taken.', { details: [{ path: 'file', message: 'is odd' }] });
    case 'throw':
      throw new Error('a mistake');
    case 'settings':
      return { env: Object.keys(process.env), pid: process.pid };
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      return pause(60_000);
    case 'exit':
      process.exit(3);
    case 'hang':
      for (;;);
    case 'begin-again': {
      const copy = new PassThrough();
      writeParts(copy, partsOf({ begun: true }));
      const message = await buffer(copy.end());
      for (;;) {
        writeSync(3, message);
        await pause(100);
      }
    }
    case 'fill-heap':
      for (;;) held.push(Array.from({ length: 1_000 }, () => ({ a: 1 })));
    case 'fill-memory':
      for (;;) {
        held.push(Buffer.alloc(4_000_000, 1));
        await pause(2);
      }
    case 'answer-much':
      return Buffer.alloc(50_000_000);
    case 'die-later':
      setTimeout(() => process.kill(process.pid, 'SIGSEGV'), ms);
      return 'fine';
  }
}
