import { setTimeout as pause } from 'node:timers/promises';
import { desc, eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { maxOpenReminders, NewReminder } from '@portal/domain/reminders/reminders';
import { HOUR, MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { reminderEmailStatus } from './email-status.ts';
import { listNotices } from './notices.ts';
import {
  createReminder,
  deleteReminder,
  finishReminder,
  listReminders,
  snoozeReminder,
  updateReminder,
} from './reminders.ts';

const { runtime, make, signedIn } = await testRuntime();
const mailing = await testRuntime({ SMTP_HOST: '127.0.0.1', SMTP_PORT: '1', SMTP_FROM: 'portal@example.org' });

const someone = async (): Promise<UserContext> => signedIn(await make.user());
const ago = (ms: number): Date => new Date(Date.now() - ms);
const ahead = (ms: number): Date => new Date(Date.now() + ms);
const reminderOf = ({ actor }: UserContext, dueAt: Date, overrides = {}) =>
  make.reminder(actor, { dueAt, ...overrides });
const titles = (rows: { title: string }[]): string[] => rows.map(({ title }) => title);
const row = async (ctx: UserContext, id: string) =>
  (await ctx.read((db) => db.select().from(reminders).where(eq(reminders.id, id))))[0];

describe('a reminder', () => {
  it('is created not due and with no mail sent', async () => {
    const ctx = await someone();
    const dueAt = ahead(HOUR);
    const made = await createReminder(ctx, { title: 'Anrufen', note: '', dueAt, emailEnabled: true });
    expect(made).toEqual({
      id: expect.any(String),
      title: 'Anrufen',
      note: null,
      dueAt,
      isDue: false,
      dueLabel: expect.toSatisfy((label) => label === 'today' || label === 'tomorrow'),
      emailEnabled: true,
      emailSentAt: null,
      emailAttempts: 0,
      doneAt: null,
    });
    expect(await listReminders(ctx, 'open')).toEqual([made]);
  });

  it('cannot be created for a past time', async () => {
    const late = NewReminder.parse({ title: 'x', dueAt: ago(1).toISOString() });
    await expect(createReminder(await someone(), late)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ path: 'dueAt', message: 'must lie in the future' }],
    });
  });

  it('is listed by state and due time, only to its owner', async () => {
    const ctx = await someone();
    await reminderOf(ctx, ahead(2 * HOUR), { title: 'later' });
    await reminderOf(ctx, ago(MINUTE), { title: 'due' });
    await reminderOf(ctx, ahead(HOUR), { title: 'soon' });
    await reminderOf(ctx, ago(HOUR), { title: 'done', doneAt: ago(MINUTE) });
    await reminderOf(await signedIn(await make.user({ tenantId: ctx.tenantId })), ago(HOUR), {
      title: 'a colleague’s',
    });
    expect(titles(await listReminders(ctx, 'open'))).toEqual(['due', 'soon', 'later']);
    expect(await listReminders(ctx, 'due')).toMatchObject([{ title: 'due', isDue: true }]);
    expect(await listReminders(ctx, 'done')).toMatchObject([{ title: 'done', isDue: false }]);
  });

  it('is 404 for a colleague and for another tenant', async () => {
    const owner = await someone();
    const { id } = await reminderOf(owner, ago(HOUR));
    for (const ctx of [await signedIn(await make.user({ tenantId: owner.tenantId })), await someone()]) {
      for (const call of [
        () => updateReminder(ctx, id, { title: 'mine' }),
        () => snoozeReminder(ctx, id, { minutes: 1 }),
        () => finishReminder(ctx, id),
        () => deleteReminder(ctx, id),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }
    }
    expect(await listReminders(owner, 'due')).toMatchObject([{ id }]);
  });

  it('is limited to a thousand open ones, also with concurrent calls', async () => {
    const ctx = await someone();
    await reminderOf(ctx, ago(HOUR), { doneAt: ago(MINUTE) });
    await ctx.tx((tx) =>
      tx.insert(reminders).values(
        Array.from({ length: maxOpenReminders - 2 }, (_, n) => ({
          id: newId(),
          tenantId: ctx.tenantId,
          userId: ctx.actor.id,
          title: `${n}`,
          dueAt: n % 2 === 0 ? ago(HOUR) : ahead(HOUR),
          occurrenceId: newId(),
        })),
      ),
    );
    const input = { title: 'x', note: null, dueAt: ahead(HOUR), emailEnabled: false };
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => createReminder(ctx, input)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ kind: 'conflict', code: 'LIMIT_REACHED' });
    }
    expect(await listReminders(ctx, 'open')).toHaveLength(maxOpenReminders);
  });
});

describe('editing', () => {
  it('changes the fields sent while the reminder is not due', async () => {
    const ctx = await someone();
    const { id, occurrenceId } = await reminderOf(ctx, ahead(HOUR), { title: 'old', note: 'kept' });
    expect(await updateReminder(ctx, id, { title: 'new' })).toMatchObject({ title: 'new', note: 'kept' });
    expect(await row(ctx, id)).toMatchObject({ occurrenceId });
    expect(await updateReminder(ctx, id, { note: '', emailEnabled: true })).toMatchObject({
      title: 'new',
      note: null,
      emailEnabled: true,
    });
    expect(await updateReminder(ctx, id, {})).toMatchObject({ title: 'new' });
  });

  it('the due time creates a new occurrence with no mail sent', async () => {
    const ctx = await someone();
    const before = await reminderOf(ctx, ahead(HOUR), {
      emailSentAt: ago(HOUR),
      emailAttempts: 2,
      emailQueuedAt: ago(1),
    });
    const dueAt = ahead(2 * HOUR);
    expect(await updateReminder(ctx, before.id, { dueAt })).toMatchObject({
      dueAt,
      emailSentAt: null,
      emailAttempts: 0,
    });
    const after = await row(ctx, before.id);
    expect(after?.emailQueuedAt).toBeNull();
    expect(after?.occurrenceId).not.toBe(before.occurrenceId);
  });

  it.each([
    ['due', { dueAt: ago(1) }, { title: 'x' }, 'REMINDER_DUE'],
    ['due', { dueAt: ago(1) }, { dueAt: ahead(HOUR) }, 'REMINDER_DUE'],
    ['done', { dueAt: ago(HOUR), doneAt: ago(1) }, { title: 'x' }, 'REMINDER_DONE'],
    ['not due, to a past time,', {}, { dueAt: ago(1) }, 'VALIDATION_FAILED'],
    ['due, to a past time,', { dueAt: ago(1) }, { dueAt: ago(1) }, 'VALIDATION_FAILED'],
  ])('one that is %s is refused and changes nothing', async (_, state, change, code) => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ahead(HOUR), state);
    const before = await row(ctx, id);
    await expect(updateReminder(ctx, id, change)).rejects.toMatchObject({ code });
    expect(await row(ctx, id)).toEqual(before);
  });
});

describe('snoozing', () => {
  it('moves the due time, resets the mail, and updates the label', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE), { emailSentAt: ago(MINUTE), emailAttempts: 1 });
    const snoozed = await snoozeReminder(ctx, id, { preset: 'tomorrowMorning' });
    expect(snoozed).toMatchObject({ isDue: false, dueLabel: 'tomorrow', emailSentAt: null, emailAttempts: 0 });
    expect(await listReminders(ctx, 'open')).toEqual([snoozed]);
  });

  it('keeps the latest 2,000 due times of a user and drops the earliest', async () => {
    const [ctx, other] = [await someone(), await someone()];
    for (const of of [ctx, other]) {
      const { id } = await reminderOf(of, ahead(HOUR));
      await of.tx((tx) =>
        tx.execute(sql`insert into snoozed_reminders (id, tenant_id, user_id, reminder_id, title, due_at)
          select gen_random_uuid(), ${of.tenantId}, ${of.actor.id}, ${id}, n, now() - make_interval(mins => n)
          from generate_series(1, 2000) n`),
      );
    }
    const { id } = await reminderOf(ctx, ago(SECOND), { title: 'now' });
    await snoozeReminder(ctx, id, { minutes: 1 });
    const kept = async (of: UserContext) =>
      titles(
        await of.read((db) =>
          db.select({ title: snoozedReminders.title }).from(snoozedReminders).orderBy(desc(snoozedReminders.dueAt)),
        ),
      );
    expect(await kept(ctx)).toEqual(['now', ...Array.from({ length: 1_999 }, (_, n) => `${n + 1}`)]);
    expect(await kept(other)).toHaveLength(2_000);
  });

  it('counts minutes by the database’s clock', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE));
    const before = Date.now();
    const { dueAt } = await snoozeReminder({ ...ctx, now: () => new Date(0) }, id, { minutes: 5 });
    expect(dueAt.getTime()).toBeGreaterThanOrEqual(before + 5 * MINUTE - 1);
    expect(dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 5 * MINUTE);
  });

  it.each([
    ['not due', {}, { minutes: 1 }, 'REMINDER_NOT_DUE'],
    ['done', { dueAt: ago(HOUR), doneAt: ago(1) }, { minutes: 1 }, 'REMINDER_NOT_DUE'],
    ['due, until a past time,', { dueAt: ago(HOUR) }, { until: ago(1) }, 'VALIDATION_FAILED'],
  ])('one that is %s is refused and changes nothing', async (_, state, snooze, code) => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ahead(HOUR), state);
    const before = await row(ctx, id);
    const { notices } = await listNotices(ctx, undefined);
    await expect(snoozeReminder(ctx, id, snooze)).rejects.toMatchObject({ code });
    expect(await row(ctx, id)).toEqual(before);
    expect((await listNotices(ctx, undefined)).notices).toEqual(notices);
  });

  it('happens once if two devices snooze at the same time', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE));
    const results = await Promise.allSettled([1, 2, 3].map((minutes) => snoozeReminder(ctx, id, { minutes })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await listNotices(ctx, undefined)).notices).toHaveLength(1);
  });
});

describe('finishing', () => {
  it('marks a due reminder as done, and a second call returns the same', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE));
    const done = await finishReminder(ctx, id);
    expect(done).toMatchObject({ id, isDue: false, doneAt: expect.any(Date) });
    expect(await finishReminder(ctx, id)).toEqual(done);
  });

  it('is refused before the reminder is due', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ahead(HOUR));
    await expect(finishReminder(ctx, id)).rejects.toMatchObject({ code: 'REMINDER_NOT_DUE' });
  });
});

describe('notices', () => {
  const seen = async (ctx: UserContext, since?: Date) => titles((await listNotices(ctx, since)).notices);

  it('list each due time once, newest first, including snoozed ones', async () => {
    const ctx = await someone();
    const first = await reminderOf(ctx, ago(3 * MINUTE), { title: 'first' });
    await reminderOf(ctx, ago(2 * MINUTE), { title: 'second' });
    await reminderOf(ctx, ahead(HOUR), { title: 'not due' });
    await reminderOf(ctx, ago(MINUTE), { title: 'done', doneAt: ago(1) });
    await snoozeReminder(ctx, first.id, { until: ahead(HOUR) });
    const { notices } = await listNotices(ctx, undefined);
    expect(titles(notices)).toEqual(['done', 'second', 'first']);
    expect(notices[2]).toEqual({
      id: first.occurrenceId,
      kind: 'reminder-due',
      reminderId: first.id,
      title: 'first',
      dueAt: first.dueAt,
      at: first.dueAt,
    });
    // The snoozed reminder is due again.
    await ctx.tx((tx) =>
      tx
        .update(reminders)
        .set({ dueAt: ago(1) })
        .where(eq(reminders.id, first.id)),
    );
    expect(await seen(ctx)).toEqual(['first', 'done', 'second', 'first']);
  });

  it('keep the title a reminder had when it became due', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE), { title: 'then' });
    await snoozeReminder(ctx, id, { minutes: 10 });
    await updateReminder(ctx, id, { title: 'now' });
    expect(await seen(ctx)).toEqual(['then']);
  });

  it('are deleted with their reminder', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ago(MINUTE));
    await snoozeReminder(ctx, id, { minutes: 10 });
    await deleteReminder(ctx, id);
    expect(await seen(ctx)).toEqual([]);
  });

  it('are listed for 14 days', async () => {
    const ctx = await someone();
    await reminderOf(ctx, ago(14 * 24 * HOUR + MINUTE), { title: 'older' });
    await reminderOf(ctx, ago(14 * 24 * HOUR - MINUTE), { title: 'newer' });
    expect(await seen(ctx)).toEqual(['newer']);
  });

  it('after the time of an answer are those the answer did not contain', async () => {
    const ctx = await someone();
    const dueAt = ahead(3 * SECOND);
    await createReminder(ctx, { title: 'soon', note: null, dueAt, emailEnabled: false });
    const found: string[] = [];
    let since: Date | undefined;
    while (since === undefined || since < dueAt) {
      const { notices, until } = await listNotices(ctx, since);
      found.push(...titles(notices));
      expect(Math.abs(until.getTime() - Date.now())).toBeLessThan(20 * SECOND);
      since = until;
      await pause(20);
    }
    expect(found).toEqual(['soon']);
    expect(await seen(ctx, since)).toEqual([]);
    expect(await seen(ctx, new Date(dueAt.getTime() - 1))).toEqual(['soon']);
    expect(await seen(ctx, dueAt)).toEqual([]);
  });

  it('never return a time later than an uncommitted due time', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ahead(HOUR));
    const dueAt = ahead(3 * SECOND);
    const isHeld = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    // The edit is decided before the due time and committed long after it.
    const slow: UserContext = {
      ...ctx,
      tx: (work) =>
        ctx.tx(async (tx) => {
          const result = await work(tx);
          isHeld.resolve();
          await release.promise;
          return result;
        }),
    };
    const edit = updateReminder(slow, id, { dueAt });
    await isHeld.promise;
    let isAnswered = false;
    const asked = listNotices(ctx, undefined).finally(() => (isAnswered = true));
    await expect.poll(() => Date.now(), { timeout: 20_000 }).toBeGreaterThan(dueAt.getTime() + 100);
    expect(isAnswered).toBe(false);
    release.resolve();
    await edit;
    const { notices, until } = await asked;
    expect(until.getTime()).toBeGreaterThanOrEqual(dueAt.getTime());
    expect(notices).toMatchObject([{ reminderId: id, dueAt }]);
  });

  it('beyond the limit of one answer come with the next, none missed and none repeated', async () => {
    const ctx = await someone();
    const { id } = await reminderOf(ctx, ahead(HOUR));
    await ctx.tx((tx) =>
      tx.execute(sql`insert into snoozed_reminders (id, tenant_id, user_id, reminder_id, title, due_at)
        select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${ctx.tenantId}, ${ctx.actor.id}, ${id}, n,
          now() - interval '1 day' + make_interval(secs => n / 700) from generate_series(1, 4500) n`),
    );
    const found: string[] = [];
    let calls = 0;
    for (let since: Date | undefined; ; calls += 1) {
      const { notices, until } = await listNotices(ctx, since);
      if (notices.length === 0) break;
      expect(notices.map(({ at }) => at)).toEqual(
        notices.map(({ at }) => at).toSorted((a, b) => Number(b) - Number(a)),
      );
      found.push(...titles(notices));
      since = until;
    }
    expect(calls).toBeGreaterThan(2);
    expect(found).toHaveLength(4_500);
    expect(new Set(found).size).toBe(4_500);
  });
});

describe('mail status', () => {
  it('says what is missing', async () => {
    const ctx = await someone();
    expect(await reminderEmailStatus(ctx)).toEqual({ available: false, reason: 'MAIL_NOT_CONFIGURED' });
    const silent = await signedIn(await make.user({ email: null }));
    expect(await reminderEmailStatus(silent)).toEqual({ available: false, reason: 'NO_ADDRESS' });
    const reachable = await mailing.signedIn(await mailing.make.user());
    expect(await reminderEmailStatus(reachable)).toEqual({ available: true, reason: null });
  });
});

it('is deleted with its account', async () => {
  const ctx = await someone();
  const { id } = await reminderOf(ctx, ago(MINUTE));
  await snoozeReminder(ctx, id, { minutes: 10 });
  await runtime.database.acrossTenants('a test deletes an account', (tx) =>
    tx.execute(sql`delete from users where id = ${ctx.actor.id}`),
  );
  expect(await row(ctx, id)).toBeUndefined();
});
