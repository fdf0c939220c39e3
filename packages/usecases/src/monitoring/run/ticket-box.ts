import type { TicketPlace } from '@portal/connectors/servers/server-session';

/** More than a process looks at between two sign-ins. */
const mostPlaces = 10_000;

/** Keeps the tickets of servers in the memory of the process and nowhere else; what was not used for longest goes first. */
export function openTicketBox() {
  const places = new Map<string, TicketPlace>();
  return {
    /** `key` names the server as it is stored: a changed one begins without a ticket. */
    placeFor(key: string): TicketPlace {
      const place = places.get(key) ?? { ticket: null };
      places.delete(key);
      places.set(key, place);
      const [oldest] = places.keys();
      if (places.size > mostPlaces && oldest !== undefined) places.delete(oldest);
      return place;
    },
  };
}
