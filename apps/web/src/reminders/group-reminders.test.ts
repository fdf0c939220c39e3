import { describe, expect, it } from 'vitest';
import type { Reminder } from '@portal/client/interface';
import { groupReminders, type ReminderFilter } from './group-reminders.ts';

const reminder = (title: string, dueAt: string, fields: Partial<Reminder> = {}): Reminder => ({
  id: title,
  title,
  note: null,
  dueAt,
  isDue: false,
  dueLabel: null,
  emailEnabled: false,
  emailSentAt: null,
  emailAttempts: 0,
  doneAt: null,
  ...fields,
});

const shown = (reminders: Reminder[], filter: ReminderFilter) =>
  groupReminders(reminders, filter).map(({ key, label, reminders }) => [
    key,
    label,
    reminders.map(({ title }) => title),
  ]);

const open = [
  reminder('old', '2026-11-18T08:00:00Z', { isDue: true }),
  reminder('this morning', '2026-11-20T08:00:00Z', { isDue: true, dueLabel: 'today' }),
  reminder('this evening', '2026-11-20T17:00:00Z', { dueLabel: 'today' }),
  reminder('after midnight in Berlin', '2026-11-20T23:30:00Z', { dueLabel: 'tomorrow' }),
  reminder('tomorrow', '2026-11-21T08:00:00Z', { dueLabel: 'tomorrow' }),
  reminder('later', '2026-12-24T08:00:00Z'),
];

describe('the list of reminders', () => {
  it('has what is due first, then the days', () => {
    expect(shown(open, 'open')).toEqual([
      ['due', 'due', ['old', 'this morning']],
      ['2026-11-20', 'today', ['this evening']],
      ['2026-11-21', 'tomorrow', ['after midnight in Berlin', 'tomorrow']],
      ['2026-12-24', null, ['later']],
    ]);
  });

  it('has only what is due, by day', () => {
    expect(shown(open, 'due')).toEqual([
      ['2026-11-18', null, ['old']],
      ['2026-11-20', 'today', ['this morning']],
    ]);
  });

  it('has what is done from the latest on', () => {
    expect(shown([reminder('a', '2026-11-01T08:00:00Z'), reminder('b', '2026-11-02T08:00:00Z')], 'done')).toEqual([
      ['2026-11-02', null, ['b']],
      ['2026-11-01', null, ['a']],
    ]);
    expect(shown([], 'open')).toEqual([]);
  });
});
