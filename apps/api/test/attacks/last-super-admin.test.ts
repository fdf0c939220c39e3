import { and, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { testApp } from '../../testing/app.ts';

const { app, make, runtime, cookieOf } = await testApp();

beforeEach(() =>
  runtime.database.acrossTenants('a test begins without SUPER_ADMINs', (tx) =>
    tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
  ),
);

const left = () =>
  runtime.database.acrossTenants('a test counts', async (tx) => {
    const found = await tx
      .select({ id: users.id })
      .from(users)
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(and(eq(users.role, 'SUPER_ADMIN'), eq(users.isActive, true)));
    return found.length;
  });

/** Requests that get past the check of their sessions together, as those of two people at the same moment would. */
const superAdmins = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const user = await make.user({ role: 'SUPER_ADMIN' });
      const cookie = await cookieOf(user);
      const send = (method: 'PATCH' | 'DELETE', url: string, payload?: object) =>
        app.inject({ method, url, headers: { cookie }, ...(payload && { payload }) });
      return { user, send };
    }),
  );

describe('the last active SUPER_ADMIN', () => {
  it('survives tenants that deactivate each other at the same moment', async () => {
    for (let round = 0; round < 12; round += 1) {
      const circle = await superAdmins(3);
      const answers = await Promise.all(
        circle.map(({ send }, n) =>
          send('PATCH', `/tenants/${circle[(n + 1) % circle.length]?.user.tenantId}`, { isActive: false }),
        ),
      );
      expect(await left()).toBeGreaterThan(0);
      for (const answer of answers) expect([200, 401, 409]).toContain(answer.statusCode);
      for (const answer of answers)
        if (answer.statusCode === 409) expect(answer.json()).toMatchObject({ code: 'LAST_SUPER_ADMIN' });
      await runtime.database.acrossTenants('the next round begins without SUPER_ADMINs', (tx) =>
        tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
      );
    }
  });

  it('survives a tenant that goes while its rival is demoted, deactivated or deleted', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [one, other] = await superAdmins(2);
      if (!one || !other) throw new Error('no two accounts');
      const fate = [
        () => other.send('PATCH', `/users/${one.user.id}`, { role: 'ADMIN' }),
        () => other.send('PATCH', `/users/${one.user.id}`, { isActive: false }),
        () => other.send('DELETE', `/users/${one.user.id}`),
      ][round % 3];
      await Promise.all([one.send('PATCH', `/tenants/${other.user.tenantId}`, { isActive: false }), fate?.()]);
      expect(await left()).toBe(1);
      await runtime.database.acrossTenants('the next round begins without SUPER_ADMINs', (tx) =>
        tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
      );
    }
  });

  it('does not go with a tenant that is deleted while it is activated', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [actor] = await superAdmins(1);
      const resting = await make.user({ role: 'SUPER_ADMIN', isActive: false });
      const [activated, deleted] = await Promise.all([
        actor?.send('PATCH', `/users/${resting.id}`, { isActive: true }),
        actor?.send('DELETE', `/tenants/${resting.tenantId}`),
      ]);
      // One of them is first; the other finds the account gone, or still needed.
      expect([
        [200, 409],
        [404, 204],
        [409, 204],
      ]).toContainEqual([activated?.statusCode, deleted?.statusCode]);
    }
  });
});
