import { type DavCollection, readCollections, readEvents } from '@portal/connectors/calendar/read-dav';

/** A task for a process of its own: the answer of a calendar server in, what it says out; null for an answer that is none. */
export const run = ({
  what,
  body,
}: {
  what: 'collections' | 'events';
  body: Uint8Array;
}): Promise<DavCollection[] | Uint8Array | null> => (what === 'events' ? readEvents(body) : readCollections(body));
