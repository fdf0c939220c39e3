// Program: fetches the due invoices, and resumes interrupted runs, until it is killed.
import { setTimeout as pause } from 'node:timers/promises';
import { and, eq } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { beginRun, endRun } from '@portal/platform/runs/state';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { openRuntime } from '@portal/platform/runtime';
import { fetchTenantInvoices } from '@portal/usecases/invoices/fetch/fetch-invoices';
import { startDueInvoiceFetches } from '@portal/usecases/invoices/start-due-fetches';

const runtime = openRuntime(readConfig(process.env), { process: 'worker', log: openLog('silent', 'worker') });
const origin = { requestId: 'soak', ip: null, userAgent: null };
const system = { ...runtime.system(origin), enqueue: async () => undefined };
// The parent has ended.
process.on('disconnect', () => process.exit());

for (;;) {
  await startDueInvoiceFetches(system);
  const unfinished = await system.acrossTenants('a scenario resumes runs', (tx) =>
    tx
      .select({ id: runs.id, tenantId: runs.tenantId })
      .from(runs)
      .where(and(eq(runs.kind, 'invoices.fetch'), isUnfinished)),
  );
  for (const { id, tenantId } of unfinished) {
    const ctx = { ...runtime.tenant(origin, tenantId ?? ''), enqueue: async () => undefined };
    const run = await beginRun(ctx, id);
    if (!run) continue;
    const work = { run, signal: new AbortController().signal, actorId: null, progress: () => undefined };
    const error = await fetchTenantInvoices(ctx, work).then(
      () => null,
      (failure: unknown) => String(failure),
    );
    await endRun(ctx, run, { error });
  }
  await pause(50);
}
