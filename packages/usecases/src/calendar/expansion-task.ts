import { SECOND } from '@portal/domain/time';
import type { Findings } from './reading/findings.ts';
import { shown } from './reading/moment.ts';
import { occurrencesBetween } from './reading/occurrences.ts';

/** Below the process's time limit, so that there is still an answer. */
const withinMs = 6 * SECOND;

/** The events of a source in a window. */
export interface Expansion {
  /** A JSON list of `ListedEvent`. */
  events: Uint8Array;
  /** False if events are missing. */
  isWhole: boolean;
  /** Whether the time ran out; a less busy machine may read everything. */
  isLate: boolean;
  /** Lines that are not shown as written. */
  findings: Findings;
}

/** An event of the answer, without its source, and the instant it is sorted by. */
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

/** Sandbox task: lists the events of a file within a window. */
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
