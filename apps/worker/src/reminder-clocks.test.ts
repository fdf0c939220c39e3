import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { mails } from '@portal/db/schema/platform/mails';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { SECOND } from '@portal/domain/time';
import { testRuntime } from '@portal/testing/runtime';
import { startWorkerProcess, workerSettings } from '@portal/testing/scenarios/worker-process';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { queuesOf } from '@portal/testing/test-matrix';
import { listNotices } from '@portal/usecases/reminders/notices';

const { url, make, signedIn } = await testRuntime();
const shiftedClock = new URL('../testing/shifted-clock.ts', import.meta.url);

it(
  'two workers with clocks 90 s apart send one mail and create one notice per due time, none early',
  { timeout: 120_000 },
  async () => {
    const arrivals = new Map<string, number[]>();
    const smtp = await startSmtpServer({
      onMessage: ({ subject }) => void arrivals.set(subject, [...(arrivals.get(subject) ?? []), Date.now()]),
    });
    const env = workerSettings({ databaseUrl: url, redisUrl: queuesOf(url), smtpPort: smtp.port });
    const workers = [0, 90 * SECOND].map((shiftMs) =>
      startWorkerProcess(env, ['--import', `${shiftedClock.href}?ms=${shiftMs}`]),
    );
    try {
      const ctx = await signedIn(await make.user());
      const now = Date.now();
      // Due now and within 9 s, while the workers run; by the clock of one worker all are past already.
      const dueTimes = [
        ...Array.from({ length: 30 }, (_, n) => new Date(now + n * 300)),
        // 02:30 occurs twice on 2026-10-25 in Berlin; on 2026-03-29 the hour from 02:00 does not exist.
        ...['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'].map(
          (time) => new Date(time),
        ),
      ];
      const rows = dueTimes.map((dueAt) => ({
        id: newId(),
        tenantId: ctx.tenantId,
        userId: ctx.actor.id,
        title: dueAt.toISOString(),
        dueAt,
        occurrenceId: newId(),
        emailEnabled: true,
      }));
      await ctx.tx((tx) => tx.insert(reminders).values(rows));
      await expect
        .poll(() => ctx.read((db) => db.$count(mails, eq(mails.state, 'sent'))), { timeout: 100_000, interval: 500 })
        .toBe(rows.length);
      for (const { title, dueAt } of rows) {
        const times = arrivals.get(`Erinnerung: ${title}`) ?? [];
        expect({ title, mails: times.length }).toEqual({ title, mails: 1 });
        expect(times[0]).toBeGreaterThanOrEqual(dueAt.getTime());
      }
      const recent = rows.filter(({ dueAt }) => dueAt.getTime() >= now);
      const { notices } = await listNotices(ctx, new Date(now - 1));
      expect(notices.map(({ id }) => id).toSorted()).toEqual(recent.map(({ occurrenceId }) => occurrenceId).toSorted());
    } finally {
      for (const { child } of workers) child.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
      await smtp.stop();
    }
  },
);
