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

const countSuperAdmins = () =>
  runtime.database.acrossTenants('a test counts SUPER_ADMINs', async (tx) => {
    const found = await tx
      .select({ id: users.id })
      .from(users)
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(and(eq(users.role, 'SUPER_ADMIN'), eq(users.isActive, true)));
    return found.length;
  });

/** SUPER_ADMINs with prepared sessions, so that their requests pass the session check at the same time. */
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
      expect(await countSuperAdmins()).toBeGreaterThan(0);
      for (const answer of answers) expect([200, 401, 409]).toContain(answer.statusCode);
      for (const answer of answers)
        if (answer.statusCode === 409) expect(answer.json()).toMatchObject({ code: 'LAST_SUPER_ADMIN' });
      await runtime.database.acrossTenants('the next round begins without SUPER_ADMINs', (tx) =>
        tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
      );
    }
  });

  it('survives a tenant’s deactivation while the other SUPER_ADMIN is demoted, deactivated or deleted', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [one, other] = await superAdmins(2);
      if (!one || !other) throw new Error('no two accounts');
      const change = [
        () => other.send('PATCH', `/users/${one.user.id}`, { role: 'ADMIN' }),
        () => other.send('PATCH', `/users/${one.user.id}`, { isActive: false }),
        () => other.send('DELETE', `/users/${one.user.id}`),
      ][round % 3];
      await Promise.all([one.send('PATCH', `/tenants/${other.user.tenantId}`, { isActive: false }), change?.()]);
      expect(await countSuperAdmins()).toBe(1);
      await runtime.database.acrossTenants('the next round begins without SUPER_ADMINs', (tx) =>
        tx.update(users).set({ isActive: false }).where(eq(users.role, 'SUPER_ADMIN')),
      );
    }
  });

  it('is not deleted with its tenant while it is activated', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [actor] = await superAdmins(1);
      const inactive = await make.user({ role: 'SUPER_ADMIN', isActive: false });
      const [activated, deleted] = await Promise.all([
        actor?.send('PATCH', `/users/${inactive.id}`, { isActive: true }),
        actor?.send('DELETE', `/tenants/${inactive.tenantId}`),
      ]);
      // One request is first; the other finds the account deleted or still needed.
      expect([
        [200, 409],
        [404, 204],
        [409, 204],
      ]).toContainEqual([activated?.statusCode, deleted?.statusCode]);
    }
  });
});
