import { SECOND } from '@portal/domain/time';
import type { Findings } from './reading/findings.ts';
import { shown } from './reading/moment.ts';
import { occurrencesBetween } from './reading/occurrences.ts';

/** Short of what ends the process, so that there is still an answer. */
const withinMs = 6 * SECOND;

/** What a source shows of a window. */
export interface Expansion {
  /** A JSON list of `ListedEvent`. */
  events: Uint8Array;
  /** False when there is more than is shown. */
  isWhole: boolean;
  /** Whether there was no time to look at everything: on a machine that is less busy there may be. */
  isLate: boolean;
  /** What is not shown as it is written. */
  findings: Findings;
}

/** An event as it is answered, but for its source, and what it is sorted by. */
export interface ListedEvent {
  at: number;
  event: {
    uid: string;
    title: string;
    start: string;
    end: string;
    allDay: boolean;
    location: string | null;
  };
}

const longestUid = 255;

/** A task for a process of its own: a file of events and a window in, what takes place in it out. */
export function run({ body, from, to }: { body: Uint8Array; from: number; to: number }): Expansion {
  const until = performance.now() + withinMs;
  const { occurrences, ...state } = occurrencesBetween(body, { from, to }, () => performance.now() > until);
  const listed = occurrences.map(({ uid, title, location, start, end }): ListedEvent => {
    const allDay = start.isDay;
    const shownUid = uid.slice(0, longestUid).toWellFormed();
    return { at: start.at, event: { uid: shownUid, title, start: shown(start), end: shown(end), allDay, location } };
  });
  return { events: Buffer.from(JSON.stringify(listed)), ...state };
}
