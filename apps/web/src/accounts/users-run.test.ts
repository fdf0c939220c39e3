import { describe, expect, it } from 'vitest';
import { PortalError } from '@portal/client/portal-error';
import { runEach } from './users-run.ts';

const items = Array.from({ length: 20 }, (_, n) => n);
const refusal = (status: number) => new PortalError({ code: 'REFUSED', message: 'No.' }, { status });

describe('runEach', () => {
  it('works on each item once, at most four at a time, and goes on after a refusal', async () => {
    const done: number[] = [];
    const failed: number[] = [];
    let running = 0;
    let most = 0;
    await runEach(items, {
      signal: new AbortController().signal,
      work: async (item) => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
        if (item === 3) throw refusal(409);
      },
      onOutcome: (item, outcome) => ('error' in outcome ? failed : done).push(item),
    });
    expect(done.toSorted((a, b) => a - b)).toEqual(items.filter((item) => item !== 3));
    expect([failed, most]).toEqual([[3], 4]);
  });

  it('begins nothing more once it is stopped or the service is away', async () => {
    for (const status of [0, 401, 429, 503]) {
      const seen: number[] = [];
      await runEach(items, {
        signal: new AbortController().signal,
        work: (item) => Promise.reject(refusal(item === 0 ? status : 409)),
        onOutcome: (item) => seen.push(item),
      });
      expect([status, seen]).toEqual([status, [0, 1, 2, 3]]);
    }
    const stop = new AbortController();
    const seen: number[] = [];
    await runEach(items, {
      signal: stop.signal,
      work: async () => stop.abort(),
      onOutcome: (item) => seen.push(item),
    });
    expect(seen).toEqual([0]);
    await runEach([], { signal: stop.signal, work: () => Promise.resolve(), onOutcome: () => undefined });
  });
});
