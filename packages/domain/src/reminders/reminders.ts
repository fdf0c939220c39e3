import { z } from 'zod';
import { Id } from '../ids.ts';
import { requiredLine, text } from '../text.ts';
import { berlin, Instant } from '../time.ts';

/** Maximum number of a user's reminders that are not done. */
export const maxOpenReminders = 1_000;
/** Maximum number of snoozed due times in a user's list of notices; the latest ones stay. */
export const maxSnoozedDueTimes = 2_000;

/** `open` includes every reminder that is not done, due or not. */
export const ReminderState = z.enum(['open', 'due', 'done']);
export type ReminderState = z.infer<typeof ReminderState>;

const title = requiredLine();
const example = {
  title: 'Angebot an die Stadtwerke schicken',
  note: 'Vorher mit Anna abstimmen.',
  dueAt: '2036-01-08T08:00:00.000Z',
  emailEnabled: true,
};

export const NewReminder = z
  .object({
    title,
    note: text().nullable().default(null),
    dueAt: Instant.describe('Must be in the future by the server’s clock'),
    emailEnabled: z.boolean().default(false).describe('Whether the portal sends a mail when the reminder becomes due'),
  })
  .meta({ example });
export type NewReminder = z.output<typeof NewReminder>;

/** A PATCH changes the fields it names; no field accepts null. */
export const ReminderChange = z
  .object({
    title: title.optional(),
    note: text().optional().describe('Empty removes the note'),
    dueAt: Instant.optional().describe('Must be in the future by the server’s clock'),
    emailEnabled: z.boolean().optional(),
  })
  .meta({ example });
export type ReminderChange = z.output<typeof ReminderChange>;

export const SnoozePreset = z.enum(['in10min', 'in1h', 'thisEvening', 'tomorrowMorning', 'nextWeek']);
export type SnoozePreset = z.infer<typeof SnoozePreset>;

/** The longest snooze in minutes: four weeks. */
const maxSnoozeMin = 40_320;

export const Snooze = z
  .object({
    minutes: z.int().min(1).max(maxSnoozeMin).optional(),
    preset: SnoozePreset.optional(),
    until: Instant.optional().describe('Must be in the future by the server’s clock'),
  })
  .refine(
    (snooze) => Object.values(snooze).filter((value) => value !== undefined).length === 1,
    'must name exactly one of minutes, preset and until',
  )
  .meta({ example: { minutes: 10 } });
export type Snooze = z.output<typeof Snooze>;

export const Reminder = z
  .object({
    id: Id,
    title: z.string(),
    note: z.string().nullable(),
    dueAt: Instant,
    isDue: z
      .boolean()
      .describe('True if the due time has passed by the database’s clock; never true for a reminder that is done'),
    dueLabel: z
      .enum(['today', 'tomorrow'])
      .nullable()
      .describe('Whether `dueAt` is today or tomorrow in Berlin; null for any other day'),
    emailEnabled: z.boolean(),
    emailSentAt: Instant.nullable().describe('When the mail for this due time was sent'),
    emailAttempts: z.int().describe('Attempts to send the mail for this due time, including the successful one'),
    doneAt: Instant.nullable(),
  })
  .meta({
    id: 'Reminder',
    example: {
      id: '0198d3c5-2c4d-7e5f-8a6b-7c8d9e0f1a2b',
      ...example,
      isDue: false,
      dueLabel: null,
      emailSentAt: null,
      emailAttempts: 0,
      doneAt: null,
    },
  });
export type Reminder = z.output<typeof Reminder>;

export const ReminderNotice = z
  .object({
    id: Id.describe('Each due time has its own id'),
    kind: z.literal('reminder-due'),
    reminderId: Id,
    title: z.string().describe('Title at the time the reminder became due'),
    dueAt: Instant,
    at: Instant.describe('When the reminder became due'),
  })
  .meta({
    id: 'ReminderNotice',
    example: {
      id: '0198d3c5-2c4e-7a1b-9c2d-3e4f5a6b7c8d',
      kind: 'reminder-due',
      reminderId: '0198d3c5-2c4d-7e5f-8a6b-7c8d9e0f1a2b',
      title: example.title,
      dueAt: example.dueAt,
      at: example.dueAt,
    },
  });
export type ReminderNotice = z.output<typeof ReminderNotice>;

/** Days and times of day are in Berlin time, independent of server and client. */
const inBerlin = (instant: Date): Temporal.ZonedDateTime => instant.toTemporalInstant().toZonedDateTimeISO(berlin);

/** Whether the due time is on the day of `now` or on the next day; null for any other day. */
export function dueLabel(dueAt: Date, now: Date): Reminder['dueLabel'] {
  const { days } = inBerlin(now).toPlainDate().until(inBerlin(dueAt).toPlainDate());
  if (days === 0) return 'today';
  return days === 1 ? 'tomorrow' : null;
}

/** The due time a snooze asks for. The caller must check that `until` is after `now`. */
export function snoozedUntil({ minutes, preset, until }: Snooze, now: Date): Date {
  if (until) return until;
  const here = inBerlin(now);
  return new Date((preset ? atPreset(preset, here) : here.add({ minutes: minutes ?? 0 })).epochMilliseconds);
}

function atPreset(preset: SnoozePreset, now: Temporal.ZonedDateTime): Temporal.ZonedDateTime {
  switch (preset) {
    case 'in10min':
      return now.add({ minutes: 10 });
    case 'in1h':
      return now.add({ hours: 1 });
    case 'thisEvening':
      return now.hour < 18 ? at(now, 18) : at(now.add({ days: 1 }), 18);
    case 'tomorrowMorning':
      return at(now.add({ days: 1 }), 8);
    case 'nextWeek':
      return at(now.add({ days: 8 - now.dayOfWeek }), 8);
  }
}

const at = (day: Temporal.ZonedDateTime, hour: number): Temporal.ZonedDateTime =>
  day.toPlainDate().toZonedDateTime({ timeZone: day.timeZoneId, plainTime: { hour } });
