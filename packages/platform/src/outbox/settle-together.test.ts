import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { waitingForLocks } from '@portal/testing/locks';
import { kinds } from '@portal/testing/mail-kinds';
import { testRuntime } from '@portal/testing/runtime';
import { passwordChangedMail } from '@portal/usecases/accounts/mails/password-changed';
import { claimMails, type Settlement, settleMails } from './outbox.ts';
import { queueMails } from './queue-mail.ts';
import { settleTogether } from './settle-together.ts';

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
  const { claimed } = await claimMails(scope, count, { kinds, way: 'service', ownServer: null, dailyLimit: null });
  return { scope, states, userId, found: claimed.toSorted((a, b) => a.id.localeCompare(b.id)) };
}

it('gives tries that end meanwhile one transaction', async () => {
  const { scope, states, found } = await claimedMails(20);
  let transactions = 0;
  const settle = settleTogether({
    ...scope,
    tx: (work) => {
      transactions += 1;
      return scope.tx(work);
    },
  });
  expect(await Promise.all(found.map((mail) => settle(mail, { outcome: 'sent' })))).toEqual(found.map(() => true));
  expect(transactions).toBe(2);
  expect(new Set(await states())).toEqual(new Set(['sent']));
});

it('lets what one settlement meets undo that one alone, with all that belongs to it', async () => {
  const { scope, states, found, userId } = await claimedMails(4);
  const settle = settleTogether(scope);
  const broken: Settlement = {
    outcome: 'sent',
    remembered: {
      kind: {
        async remember(tx) {
          await tx.update(users).set({ displayName: 'remembered' }).where(eq(users.id, userId));
          throw new Error('broken');
        },
      },
      attempt: { tenantId: scope.tenantId, userId, data: {}, tries: 1, outcome: 'sent', mayHaveArrived: false },
    },
  };
  const results = await Promise.allSettled(
    found.map((mail, at) => settle(mail, at === 2 ? broken : { outcome: 'sent' })),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await states()).toEqual(['sent', 'sent', 'sending', 'sent']);
  const [user] = await scope.read((db) => db.select().from(users).where(eq(users.id, userId)));
  expect(user?.displayName).toBeNull();
});

it('waits for the deletion of an account and does not meet it half-way', async () => {
  const { scope, states, found, userId } = await claimedMails(2);
  const [isHeld, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const deletion = scope.tx(async (tx) => {
    await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update');
    // As the deletion does on its way through the account's mails, which it meets in any order.
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
    found.map((mail) => ({ mail, settlement: { outcome: 'sent' as const } })),
  );
  await expect.poll(() => waitingForLocks(runtime.database), { timeout: 20_000 }).toBe(1);
  release.resolve();
  await deletion;
  expect(await settled).toEqual(new Set());
  expect(await states()).toEqual([]);
});
