import { useEffect } from 'preact/hooks';
import type { CalendarEvents } from '@portal/client/interface';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';
import { daysOf, pageFrom, type View, windowOf } from './calendar-days.ts';

/** The service itself reads the calendars every five minutes. */
const intervalMs = 60_000;
const prefetchedMs = 300_000;

/** The same key as the dashboard's tile, so that what one has read the other shows. */
const eventsQuery = ({ from, to }: { from: string; to: string }) => ({
  queryKey: ['calendar', 'events', from, to],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    portal.get('/calendar/events', { params: { query: { from, to } }, signal }),
});

/** The events of the days shown. Those of the pages before and after are read ahead. */
export function useEvents(view: View, day: string) {
  const window = windowOf(daysOf(view, day));
  const query = usePolled({ ...eventsQuery(window), intervalMs });
  const isRead = query.data !== undefined;
  useEffect(() => {
    if (!isRead) return undefined;
    let isShown = true;
    void (async () => {
      // One after the other: what the person does goes first.
      for (const pages of [1, -1]) {
        if (!isShown) return;
        const options = eventsQuery(windowOf(daysOf(view, pageFrom(view, day, pages))));
        await queryClient.prefetchQuery({ ...options, staleTime: prefetchedMs, retry: false });
      }
    })();
    return () => {
      isShown = false;
    };
  }, [isRead, window.from, window.to]);
  return { query, answer: query.data ?? coveringAnswer(window) };
}

/** What is already known of the days, such as from the month when its week is opened. */
function coveringAnswer({ from, to }: { from: string; to: string }): CalendarEvents | undefined {
  const known = queryClient.getQueriesData<CalendarEvents>({ queryKey: ['calendar', 'events'] });
  return known.find(([[, , first, last], data]) => data && String(first) <= from && String(last) >= to)?.[1];
}

/** After a change of a source. */
export const refreshCalendar = () => queryClient.invalidateQueries({ queryKey: ['calendar'] });
