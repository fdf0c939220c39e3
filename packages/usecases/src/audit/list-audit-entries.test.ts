import { expect, it } from 'vitest';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { idBound, newId } from '@portal/domain/ids';
import { DAY, HOUR } from '@portal/domain/time';
import { testRuntime } from '@portal/testing/runtime';
import { listAuditEntries } from './list-audit-entries.ts';

const { runtime, make, signedIn } = await testRuntime();

/** An id as a process would have made it at that time. */
const idAt = (at: Date): string => `${idBound(at).slice(0, 14)}${newId().slice(14)}`;

const start = new Date('2026-03-01T00:00:00Z').getTime();
const dayOf = (day: number) => new Date(start + day * DAY);

it('lists the entries of a period even if the clocks that made their ids differ', async () => {
  const admin = await make.user({ role: 'ADMIN' });
  const entry = { tenantId: admin.tenantId, action: 'x', summary: 'x' };
  const entries = Array.from({ length: 5_000 }, (_, n) => {
    const at = dayOf(n / 20);
    // Half a day ahead of the database, half a day behind it, and in sync.
    return { ...entry, id: idAt(new Date(at.getTime() + ((n % 3) - 1) * 12 * HOUR)), at, targetId: `${n}` };
  });
  await runtime.database.inTenant(admin.tenantId).tx(async (tx) => {
    for (let n = 0; n < entries.length; n += 1_000) await tx.insert(auditEntries).values(entries.slice(n, n + 1_000));
  });
  const ctx = await signedIn(admin);
  const listed = async (filter: { from?: Date; to?: Date }) => {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await listAuditEntries(ctx, { ...filter, limit: 200, ...(after && { after }) });
      found.push(...page.items.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after);
    return found;
  };
  const within = (from: Date, to: Date) =>
    entries
      .filter(({ at }) => at >= from && at <= to)
      .map(({ id }) => id)
      .toSorted()
      .toReversed();
  expect(await listed({ from: dayOf(50), to: dayOf(60) })).toEqual(within(dayOf(50), dayOf(60)));
  expect(await listed({ to: dayOf(3) })).toEqual(within(dayOf(0), dayOf(3)));
  expect(await listed({ from: dayOf(245) })).toEqual(within(dayOf(245), dayOf(250)));
});
