import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { mails } from '@portal/db/schema/platform/mails';
import { MINUTE } from '@portal/domain/time';
import { testRuntime } from '@portal/testing/runtime';
import { startWorkerProcess, workerSettings } from '@portal/testing/scenarios/worker-process';
import { brokenCloud, startCloudServer } from '@portal/testing/servers/cloud-server';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { queuesOf } from '@portal/testing/test-matrix';
import { getCloudInstance } from '@portal/usecases/cloud-status/instances';
import { checkDueInstances } from '@portal/usecases/cloud-status/jobs';
import { subscribe } from '@portal/usecases/cloud-status/subscriptions';

const { url, make, signedIn } = await testRuntime();
const shiftedClock = new URL('../testing/shifted-clock.ts', import.meta.url);

it(
  'two workers with clocks ten minutes apart check an instance by the database’s clock, and mail an outage once',
  { timeout: 120_000 },
  async () => {
    const smtp = await startSmtpServer();
    const cloud = await startCloudServer();
    cloud.answer = () => brokenCloud;
    const env = workerSettings({ databaseUrl: url, redisUrl: queuesOf(url), smtpPort: smtp.port });
    const workers = [0, 10 * MINUTE].map((shiftMs) =>
      startWorkerProcess(env, ['--import', `${shiftedClock.href}?ms=${shiftMs}`]),
    );
    try {
      const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
      const { id } = await make.cloudInstance(ctx.tenantId, { statusUrl: cloud.origin, nextCheckAt: new Date(0) });
      await subscribe(ctx, id);
      const nudge = () => ctx.enqueue(checkDueInstances, { tenantId: ctx.tenantId });
      for (const failures of [1, 2]) {
        await nudge();
        await expect
          .poll(async () => (await getCloudInstance(ctx, id)).consecutiveFailures, { timeout: 60_000, interval: 200 })
          .toBe(failures);
        // The next check is due in five minutes, which is past by the clock of one worker.
        for (let n = 0; n < 6; n += 1) {
          await nudge();
          await pause(300);
        }
        expect(cloud.requests()).toBe(failures);
        await ctx.tx((tx) => tx.update(cloudInstances).set({ nextCheckAt: sql`now()` }));
      }
      await expect
        .poll(() => ctx.read((db) => db.$count(mails, eq(mails.state, 'sent'))), { timeout: 60_000, interval: 300 })
        .toBe(1);
      expect(smtp.messages).toHaveLength(1);
    } finally {
      for (const { child } of workers) child.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
      await smtp.stop();
      await cloud.stop();
    }
  },
);
