import type { Reminder } from '@portal/client/interface';
import { dayAt } from '../berlin-time.ts';

/** What the page lists: all that is not done, what is due of it, or what is done. */
export type ReminderFilter = 'open' | 'due' | 'done';

export interface ReminderGroup {
  /** A day such as `2026-11-20`, or `due` for what is due on any day. */
  key: string;
  label: 'due' | 'today' | 'tomorrow' | null;
  reminders: Reminder[];
}

/** The reminders of a filter by day: open ones begin with those that are due, done ones with the latest. */
export function groupReminders(reminders: readonly Reminder[], filter: ReminderFilter): ReminderGroup[] {
  if (filter === 'done') return byDay(reminders.toReversed());
  const due = reminders.filter(({ isDue }) => isDue);
  if (filter === 'due') return byDay(due);
  const later = byDay(reminders.filter(({ isDue }) => !isDue));
  return due.length > 0 ? [{ key: 'due', label: 'due', reminders: due }, ...later] : later;
}

function byDay(reminders: readonly Reminder[]): ReminderGroup[] {
  const days = Map.groupBy(reminders, ({ dueAt }) => dayAt(dueAt));
  return [...days].map(([key, reminders]) => ({ key, label: reminders[0]?.dueLabel ?? null, reminders }));
}
