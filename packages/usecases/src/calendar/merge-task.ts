import type { CalendarEvent, CalendarEvents } from '@portal/domain/calendar/events';
import type { ListedEvent } from './expansion-task.ts';

export interface MergeInput {
  sources: { sourceId: string; events: Uint8Array }[];
  errors: CalendarEvents['errors'];
}

/** Sandbox task: merges the events of all sources into the JSON of a CalendarEvents. */
export function run({ sources, errors }: MergeInput): Uint8Array {
  const listed = sources.flatMap(({ sourceId, events }) =>
    (JSON.parse(Buffer.from(events).toString()) as ListedEvent[]).map(({ at, event }) => ({
      at,
      event: { sourceId, ...event } satisfies CalendarEvent,
    })),
  );
  const events = listed
    .toSorted((a, b) => a.at - b.at || Number(b.event.allDay) - Number(a.event.allDay))
    .map(({ event }) => event);
  return Buffer.from(JSON.stringify({ events, errors } satisfies CalendarEvents));
}
