import { expect, it } from 'vitest';
import { testApp } from '../../testing/app.ts';

const { request, make } = await testApp();

it('creates, changes, snoozes, finishes and deletes a reminder', async () => {
  const as = await make.user();
  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    request({ method, url, as, ...(payload && { payload }) });

  const dueAt = new Date(Date.now() + 86_400_000).toISOString();
  const made = await call('POST', '/reminders', { title: ' Anrufen ', dueAt, unknown: 1 });
  expect(made.statusCode).toBe(201);
  expect(made.json()).toMatchObject({ title: 'Anrufen', note: null, dueAt, isDue: false });
  const { id } = made.json<{ id: string }>();
  expect((await call('PATCH', `/reminders/${id}`, { note: 'Neu' })).json()).toMatchObject({ note: 'Neu', dueAt });
  expect((await call('PATCH', `/reminders/${id}`, { note: null })).statusCode).toBe(400);
  expect((await call('POST', `/reminders/${id}/done`)).json()).toMatchObject({
    statusCode: 409,
    code: 'REMINDER_NOT_DUE',
  });
  expect((await call('GET', '/reminders')).json()).toMatchObject([{ id }]);
  expect((await call('GET', '/reminders?state=done')).json()).toEqual([]);

  const due = await make.reminder(as, { dueAt: new Date(Date.now() - 1_000) });
  const notices = await call('GET', '/reminders/notifications');
  expect(notices.json()).toEqual([
    {
      id: due.occurrenceId,
      kind: 'reminder-due',
      reminderId: due.id,
      title: due.title,
      dueAt: due.dueAt.toISOString(),
      at: due.dueAt.toISOString(),
    },
  ]);
  const since = String(notices.headers['x-server-time']);
  expect(since).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect((await call('GET', `/reminders/notifications?since=${since}`)).json()).toEqual([]);

  expect((await call('PATCH', `/reminders/${due.id}`, { title: 'x' })).json()).toMatchObject({ code: 'REMINDER_DUE' });
  expect((await call('POST', `/reminders/${due.id}/snooze`, { preset: 'nextWeek' })).json()).toMatchObject({
    isDue: false,
  });
  const past = await make.reminder(as, { dueAt: new Date(Date.now() - 1_000) });
  const done = await call('POST', `/reminders/${past.id}/done`);
  expect(done.json()).toMatchObject({ id: past.id, isDue: false, doneAt: expect.any(String) });
  expect((await call('POST', `/reminders/${past.id}/done`)).json()).toEqual(done.json());
  expect((await call('PATCH', `/reminders/${past.id}`, { title: 'x' })).json()).toMatchObject({
    code: 'REMINDER_DONE',
  });
  expect((await call('GET', '/reminders/email-status')).json()).toEqual({
    available: false,
    reason: 'MAIL_NOT_CONFIGURED',
  });
  for (const gone of [id, due.id, past.id]) expect((await call('DELETE', `/reminders/${gone}`)).statusCode).toBe(204);
  expect((await call('DELETE', `/reminders/${id}`)).statusCode).toBe(404);
});
