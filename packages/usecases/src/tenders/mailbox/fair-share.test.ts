import { inArray, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { tenderMailboxes } from '@portal/db/schema/tenders/mailboxes';
import type { UserContext } from '@portal/platform/context';
import { alertMailboxForm, grantTenderRadar } from '@portal/testing/alert-mailboxes';
import { alertAbout } from '@portal/testing/alert-mails';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { testRuntime } from '@portal/testing/runtime';
import { startDovecot } from '@portal/testing/servers/dovecot';
import { startDrippingImap } from '@portal/testing/servers/dripping-imap';
import { serviceBinary } from '@portal/testing/services';
import { startTestWorker } from '@portal/testing/worker';
import { tenders } from '../area.ts';
import { tenderHandlers } from '../handlers.ts';
import { getAlertMailbox, putAlertMailbox } from './mailbox.ts';
import { startDueAlertMails } from './start-due-fetches.ts';

const allowed = { OUTBOUND_ALLOW_HOSTS: '127.0.0.1' };
const { make, signedIn, system, runtime, url, config } = await testRuntime(allowed);

async function person(tenantId: string): Promise<UserContext> {
  const ctx = await signedIn(await make.user({ tenantId }));
  await grantTenderRadar(ctx, ctx.actor.id);
  return ctx;
}

it('starts the mailboxes of each tenant in turn, even if one tenant has many', async () => {
  const [many, few] = [await make.tenant(), await make.tenant()];
  await runtime.database.acrossTenants('a test makes mailboxes', async (tx) => {
    for (const [tenant, count, minutes] of [
      [many, 400, 60],
      [few, 2, 1],
    ] as const) {
      const made = await tx.execute<{ id: string }>(sql`
        insert into ${users} (id, tenant_id, username, email)
        select gen_random_uuid(), ${tenant.id}, 'box-' || gen_random_uuid(), gen_random_uuid() || '@example.org'
        from generate_series(1, ${count}::int) returning id`);
      const owners = await tx
        .select({ id: users.id })
        .from(users)
        .where(
          inArray(
            users.id,
            made.rows.map(({ id }) => id),
          ),
        );
      await tx.insert(tenderMailboxes).values(
        owners.map(({ id }) => ({
          id,
          tenantId: tenant.id,
          userId: id,
          host: '127.0.0.1',
          port: 1,
          security: 'none' as const,
          username: 'ada',
          folder: 'INBOX',
          isActive: true,
          nextFetchAt: sql`now() - make_interval(mins => ${minutes}::int)`,
        })),
      );
    }
  });
  const started: string[] = [];
  const recording = {
    ...system(),
    enqueue: async (_job: unknown, payload: unknown) => void started.push((payload as { tenantId: string }).tenantId),
  };
  await startDueAlertMails(recording);
  expect(started).toHaveLength(200);
  expect(started.filter((tenantId) => tenantId === few.id)).toHaveLength(2);
  await startDueAlertMails(recording);
  expect(started).toHaveLength(400);
  await startDueAlertMails(recording);
  expect(started).toHaveLength(402);
});

describeOnEachQueue('a worker', (env) => {
  it.skipIf(serviceBinary('dovecot') === null)(
    'reads a mailbox at once while sixty of another tenant drip',
    { timeout: 120_000 },
    async () => {
      const [slow, quick] = [await make.tenant(), await make.tenant()];
      const [dripping, dovecot] = [await startDrippingImap(), await startDovecot()];
      const worker = startTestWorker(
        url,
        { handlers: tenderHandlers, concurrency: tenders.concurrency ?? {} },
        {
          env: { ...env, ...allowed, DATA_DIR: config.dataDir },
          workers: 1,
          timings: { interruptAfterMs: 100, graceMs: 1_000 },
        },
      );
      try {
        const sweep = () => startDueAlertMails(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
        for (let n = 0; n < 60; n += 1)
          await putAlertMailbox(await person(slow.id), alertMailboxForm(dripping, `ada${n}`));
        await sweep();
        await expect.poll(() => dripping.open(), { timeout: 20_000 }).toBeGreaterThanOrEqual(5);
        const ctx = await person(quick.id);
        await dovecot.makeFolder('bob', 'INBOX');
        await dovecot.deliver('bob', alertAbout(951));
        await putAlertMailbox(ctx, alertMailboxForm({ ...dovecot, password: dovecot.password }, 'bob'));
        await sweep();
        // A mailbox that drips occupies its slot for a minute.
        await expect.poll(async () => (await getAlertMailbox(ctx)).lastFetchedAt, { timeout: 25_000 }).not.toBeNull();
        expect(dripping.maxOpen()).toBe(5);
      } finally {
        await worker.stop();
        await dripping.stop();
        await dovecot.stop();
      }
    },
  );
});
