import { and, countDistinct, inArray, lte, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import type { AnyJob } from '../jobs/job.ts';
import { deliverMails } from './jobs.ts';
import { nudgeDueTenants, tenantsWithDueMails } from './nudge-due-tenants.ts';
import { queueMail } from './queue-mail.ts';

const { make, runtime, system } = await testRuntime();

type MailRow = typeof mails.$inferInsert;
const insert = (rows: MailRow[]) =>
  runtime.database.acrossTenants('a test queues mails', (tx) => tx.insert(mails).values(rows));
const mail = (tenantId: string, overrides: Partial<MailRow> = {}): MailRow => ({
  id: newId(),
  tenantId,
  kind: 'accounts/password-changed',
  key: newId(),
  ...overrides,
});
const inAnHour = new Date(Date.now() + 3_600_000);
const anHourAgo = new Date(Date.now() - 3_600_000);

it('nudges each active tenant with a due mail or an expired lease once', async () => {
  const [due, dead, later, leased, settled] = await Promise.all([1, 2, 3, 4, 5].map(() => make.tenant()));
  const inactive = await make.tenant({ isActive: false });
  if (!due || !dead || !later || !leased || !settled) throw new Error('unreachable');
  await insert([
    mail(due.id),
    mail(due.id),
    mail(dead.id, { state: 'sending', dueAt: anHourAgo }),
    mail(later.id, { dueAt: inAnHour }),
    mail(leased.id, { state: 'sending', dueAt: inAnHour }),
    mail(settled.id, { state: 'sent', settledAt: new Date() }),
    mail(inactive.id),
  ]);
  const nudged: [AnyJob, unknown][] = [];
  const spying = { ...system(), enqueue: async (job: AnyJob, payload: unknown) => void nudged.push([job, payload]) };
  await nudgeDueTenants(spying, new AbortController().signal);
  const own = new Set([due, dead, later, leased, settled, inactive].map(({ id }) => id));
  const ours = nudged.filter(([, payload]) => own.has((payload as { tenantId: string }).tenantId));
  expect(ours.map(([job]) => job)).toEqual([deliverMails, deliverMails]);
  expect(ours.map(([, payload]) => payload)).toEqual(
    expect.arrayContaining([{ tenantId: due.id }, { tenantId: dead.id }]),
  );
});

it('a key names one mail in each tenant', async () => {
  const kind = { kind: 'accounts/password-changed', isAwaited: false, data: z.object({}) };
  const queue = ({ id, tenantId }: { id: string; tenantId: string }) =>
    runtime.database.acrossTenants('a test queues a mail', (tx) =>
      queueMail(tx, kind, { tenantId, key: 'the same', userId: id, data: {} }),
    );
  const people = [await make.user(), await make.user()];
  const queued = await Promise.all(people.map(queue));
  expect(queued.map(({ isNew }) => isNew)).toEqual([true, true]);
  expect((await Promise.all(people.map(queue))).map(({ mailId }) => mailId)).toEqual(
    queued.map(({ mailId }) => mailId),
  );
});

it('looks up a tenant once, regardless of how many of its mails are due, and no other tenant', async () => {
  const { id } = await make.tenant();
  for (let n = 0; n < 20; n += 1) await make.tenant();
  await insert(Array.from({ length: 2_000 }, () => mail(id)));
  await runtime.database.acrossTenants('a test looks at a plan', async (tx) => {
    const [due] = await tx
      .select({ tenants: countDistinct(mails.tenantId) })
      .from(mails)
      .where(and(inArray(mails.state, ['queued', 'sending']), lte(mails.dueAt, sql`now()`)));
    const { rows } = await tx.execute<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      sql`explain (analyze, format json) ${tenantsWithDueMails(tx).getSQL()}`,
    );
    const scans = rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => scansOf('tenants', Plan));
    expect(scans.map((scan) => scan['Actual Loops'] * scan['Actual Rows'])).toEqual([due?.tenants]);
  });
});

/** A node of a plan, as `explain (format json)` names its parts. */
interface PlanNode {
  'Relation Name'?: string;
  'Actual Loops': number;
  'Actual Rows': number;
  Plans?: PlanNode[];
}

const scansOf = (table: string, node: PlanNode): PlanNode[] => [
  ...(node['Relation Name'] === table ? [node] : []),
  ...(node.Plans?.flatMap((child) => scansOf(table, child)) ?? []),
];

it('reads only mails that are due, not those that are settled or wait for their next try', async () => {
  const { id } = await make.tenant();
  await insert(Array.from({ length: 5_000 }, () => mail(id, { state: 'sent', settledAt: new Date() })));
  await insert(Array.from({ length: 1_000 }, () => mail(id, { dueAt: new Date(Date.now() + 3_600_000) })));
  await insert(Array.from({ length: 20 }, () => mail(id)));
  await runtime.database.acrossTenants('a test looks at a plan', async (tx) => {
    const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${tenantsWithDueMails(tx).getSQL()}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('mails_due_anywhere');
    expect(plan).not.toContain('Seq Scan on mails');
  });
});
