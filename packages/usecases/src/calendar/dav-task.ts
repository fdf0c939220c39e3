import { type DavCollection, readCollections, readEvents } from '@portal/connectors/calendar/read-dav';

/** Sandbox task: parses a calendar server's answer; null if it is not a multistatus. */
export const run = ({
  what,
  body,
}: {
  what: 'collections' | 'events';
  body: Uint8Array;
}): Promise<DavCollection[] | Uint8Array | null> => (what === 'events' ? readEvents(body) : readCollections(body));
