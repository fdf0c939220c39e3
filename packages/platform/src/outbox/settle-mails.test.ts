import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { waitingForLocks } from '@portal/testing/locks';
import { kinds } from '@portal/testing/mail-kinds';
import { testRuntime } from '@portal/testing/runtime';
import { passwordChangedMail } from '@portal/usecases/accounts/mails/password-changed';
import { claimMails, settleMails } from './outbox.ts';
import { queueMails } from './queue-mail.ts';

const { runtime, make } = await testRuntime();

async function claimedMails(count: number) {
  const { id: userId, tenantId } = await make.user();
  const scope = runtime.database.inTenant(tenantId);
  const keys = Array.from({ length: count }, () => `test/${newId()}`);
  await scope.tx((tx) =>
    queueMails(
      tx,
      passwordChangedMail,
      keys.map((key) => ({ tenantId, key, userId, data: {} })),
    ),
  );
  const states = async () =>
    (await scope.read((db) => db.select({ state: mails.state }).from(mails).orderBy(mails.id))).map(
      ({ state }) => state,
    );
  const { claimed } = await claimMails(scope, count, { kinds, route: 'service', ownServer: null, dailyLimit: null });
  return { scope, states, userId, found: claimed.toSorted((a, b) => a.id.localeCompare(b.id)) };
}

it('waits for the deletion of an account instead of deadlocking with it', async () => {
  const { scope, states, found, userId } = await claimedMails(2);
  const [isHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const deletion = scope.tx(async (tx) => {
    await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update');
    // As the deletion does for the account's mails, in any order.
    await tx
      .select({ id: mails.id })
      .from(mails)
      .where(eq(mails.id, found[1]?.id ?? ''))
      .for('update');
    isHeld.resolve();
    await release.promise;
    await tx.delete(users).where(eq(users.id, userId));
  });
  await isHeld.promise;
  const settled = settleMails(
    scope,
    kinds,
    found.map((mail) => ({ mail, settlement: { outcome: 'sent' as const } })),
  );
  await expect.poll(() => waitingForLocks(runtime.database), { timeout: 20_000 }).toBe(1);
  release.resolve();
  await deletion;
  expect(await settled).toEqual(new Set());
  expect(await states()).toEqual([]);
});
