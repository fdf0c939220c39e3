import { DAY_SEC } from './poll-answers.ts';
import { textOf } from './rows.ts';

/** How a task of a server ended. */
export type TaskEnd = 'running' | 'ok' | 'warning' | 'error' | 'unknown';

/** Only `OK` and `WARNINGS: n` mean success; any other text is an error message. */
export function taskEnd(status: unknown): TaskEnd {
  if (status === undefined || status === null) return 'running';
  const text = textOf(status) ?? '';
  if (text === 'OK') return 'ok';
  if (/^WARNINGS: \d+$/.test(text)) return 'warning';
  return ['', 'unknown', 'unexpected status'].includes(text) ? 'unknown' : 'error';
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * The longest gap, in seconds, between two runs of a schedule in the notation of the products (`daily`, `sat 03:00`,
 * `mon..fri 21:00`, `*-*-1 04:00`). A schedule that runs at least daily, or that cannot be parsed, has a gap of one day.
 */
export function longestGap(schedule: unknown): number {
  const text = (textOf(schedule) ?? '').toLowerCase();
  const gapDays = {
    weekly: 7,
    monthly: 31,
    quarterly: 92,
    semiannually: 184,
    'semi-annually': 184,
    yearly: 366,
    annually: 366,
  };
  for (const [word, gap] of Object.entries(gapDays)) if (text === word) return gap * DAY_SEC;
  const [first = ''] = text.split(/\s+/);
  if (/^(?:\*|\d{4})-\*-(?:\d|\*\/)/.test(first)) return 31 * DAY_SEC;
  if (/^(?:\*|\d{4})-\d/.test(first)) return 366 * DAY_SEC;
  const on = weekdaysOf(first);
  if (on.length === 0 || on.length === 7) return DAY_SEC;
  const gaps = on.map((day, n) => ((on[(n + 1) % on.length] ?? day) - day + 7) % 7 || 7);
  return Math.max(...gaps) * DAY_SEC;
}

/** The weekdays of `mon,wed` and `mon..fri`, in order. */
function weekdaysOf(text: string): number[] {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [from = -1, to = from] = part.split('..').map((day) => weekdays.findIndex((name) => day.startsWith(name)));
    if (from < 0 || to < 0) return [];
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === to) break;
    }
  }
  return [...days].toSorted((a, b) => a - b);
}
