import { berlin } from '@portal/domain/time';

/** The calendars of the demo: events around today, each calendar in a file of the server. */
export const calendars = [
  { name: 'Stadtwerke', file: 'termine.ics', color: '#0f766e' },
  { name: 'Rufbereitschaft', file: 'bereitschaft.ics', color: '#b45309' },
  { name: 'Ferien und Messen', file: 'ferien.ics', color: '#6d28d9' },
];

interface DemoEvent {
  title: string;
  start: Temporal.PlainDate | Temporal.PlainDateTime;
  /** For whole days the day after the last one. */
  end: Temporal.PlainDate | Temporal.PlainDateTime;
  repeats?: string;
  location?: string;
}

/** The file at a path, as it is today. A path that belongs to no calendar has an empty one. */
export function calendarFile(path: string, today = Temporal.Now.plainDateISO(berlin)): { ics: string; etag: string } {
  const file = path.slice(1);
  return { ics: icsOf(eventsOf[file]?.(today) ?? []), etag: `"${file} ${today.toString()}"` };
}

const eventsOf: Record<string, (today: Temporal.PlainDate) => DemoEvent[]> = {
  'termine.ics': (today) => {
    const monday = today.subtract({ days: today.dayOfWeek - 1 });
    const long = monday.subtract({ weeks: 26 });
    const at = (days: number, time: string) => monday.add({ days }).toPlainDateTime(time);
    return [
      weekly('Jour fixe', long.toPlainDateTime('09:00'), { minutes: 45 }, 'Besprechungsraum 2'),
      weekly('Wartungsfenster', long.add({ days: 1 }).toPlainDateTime('20:00'), { hours: 2 }),
      weekly('Schulung neue Software', long.add({ days: 3 }).toPlainDateTime('14:00'), { minutes: 90 }, 'online'),
      {
        title: 'Werkausschuss',
        start: long.add({ days: 3 }).toPlainDateTime('17:00'),
        end: long.add({ days: 3 }).toPlainDateTime('19:30'),
        repeats: 'FREQ=MONTHLY;BYDAY=2TH',
        location: 'Rathaus, Saal 1',
      },
      { title: 'Betriebsversammlung', start: at(9, '10:00'), end: at(9, '12:00'), location: 'Kantine' },
      { title: 'Netzumschaltung Nord', start: at(4, '22:00'), end: at(5, '04:30'), location: 'Umspannwerk Nord' },
      { title: 'Abnahme Pumpwerk', start: at(2, '08:30'), end: at(2, '10:00'), location: 'Pumpwerk Süd' },
      { title: 'Gespräch mit der Druckerei', start: at(2, '09:15'), end: at(2, '10:15') },
      { title: 'Bewerbungsgespräche', start: at(7, '09:00'), end: at(7, '15:00'), location: 'Besprechungsraum 1' },
      { title: 'Notstromtest', start: at(-5, '06:00'), end: at(-5, '07:00') },
      { title: 'Zählerablesung', start: monday.add({ days: 7 }), end: monday.add({ days: 12 }) },
      { title: 'Inventur', start: monday.add({ days: 19 }), end: monday.add({ days: 21 }), location: 'Bauhof' },
    ];
  },
  'bereitschaft.ics': (today) => {
    const friday = today.subtract({ days: ((today.dayOfWeek + 2) % 7) + 14 });
    return ['Jonas Beispiel', 'Nina Entwurf', 'Paul Skizze', 'Jonas Beispiel', 'Tom Schablone', 'Nina Entwurf'].map(
      (name, week) => ({
        title: `Bereitschaft ${name}`,
        start: friday.add({ weeks: week }),
        end: friday.add({ weeks: week + 1 }),
      }),
    );
  },
  'ferien.ics': (today) => [
    { title: 'Brückentag', start: today.add({ days: 1 }), end: today.add({ days: 2 }) },
    {
      title: 'Energiemesse',
      start: today.add({ days: 6 }),
      end: today.add({ days: 9 }),
      location: 'Messe Beispielstadt',
    },
    { title: 'Schulferien', start: today.add({ days: 16 }), end: today.add({ days: 30 }) },
    { title: 'Stadtfest', start: today.subtract({ days: 8 }), end: today.subtract({ days: 6 }) },
  ],
};

function weekly(
  title: string,
  start: Temporal.PlainDateTime,
  length: Temporal.DurationLike,
  location?: string,
): DemoEvent {
  return { title, start, end: start.add(length), repeats: 'FREQ=WEEKLY', ...(location !== undefined && { location }) };
}

const icsOf = (events: readonly DemoEvent[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Portal//Demo//DE',
    ...events.flatMap(({ title, start, end, repeats, location }) => [
      'BEGIN:VEVENT',
      `UID:${encodeURIComponent(title)}-${start.toString().replaceAll(/\D/g, '')}@musterhausen.example`,
      'DTSTAMP:20260101T000000Z',
      `SUMMARY:${escaped(title)}`,
      `DTSTART${written(start)}`,
      `DTEND${written(end)}`,
      ...(repeats === undefined ? [] : [`RRULE:${repeats}`]),
      ...(location === undefined ? [] : [`LOCATION:${escaped(location)}`]),
      'END:VEVENT',
    ]),
    'END:VCALENDAR',
    '',
  ].join('\r\n');

const escaped = (text: string): string => text.replaceAll(/[\\,;]/g, '\\$&');

function written(at: Temporal.PlainDate | Temporal.PlainDateTime): string {
  const digits = at.toString().replaceAll(/[-:]/g, '');
  if (at instanceof Temporal.PlainDate) return `;VALUE=DATE:${digits}`;
  return `;TZID=${berlin}:${digits}`;
}
