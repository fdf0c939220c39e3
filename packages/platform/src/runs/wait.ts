import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNotNull } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import type { RunScope } from './scope.ts';

/** Waits until a run is finished, for at most `seconds`; returns whether it is. Holds no connection while waiting. */
export async function waitForRun(scope: RunScope, runId: string, seconds: number): Promise<boolean> {
  const end = performance.now() + seconds * 1_000;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.5, 500)) {
    const finished = await scope.read((db) =>
      db
        .select({ id: runs.id })
        .from(runs)
        .where(and(eq(runs.id, runId), isNotNull(runs.finishedAt))),
    );
    if (finished.length > 0) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(waitMs, left));
  }
}
