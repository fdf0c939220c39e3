import { flagOf, numberOf, type Row } from './loose.ts';
import { DAY_SEC, MINUTE_SEC, type Epoch } from './parts.ts';

/** Whether guests start with their node, as it was last read, by kind and number. */
export type GuestCache = Record<string, { onboot: boolean; readAt: Epoch }>;

export interface GuestPlan {
  /** To be looked up now, in this order. */
  ask: Row[];
  /** What is not known of and does not fit into this run. */
  left: Row[];
}

/** Lookups of one run (specification, Limits). */
export const maxLookups = 40;

/** A guest that should run is asked about again soon; the others once a day. */
const askAgainAfter = { shouldRun: 10 * MINUTE_SEC, other: DAY_SEC };

export const guestKey = (row: Row): string => `${String(row['type'])}/${String(row['vmid'])}`;

/**
 * Which guests are looked up. Only those that do not run and are not being worked on come into question; those of HA have rules of
 * their own. First the ones that should run, then those that ran a run ago, then unknown ones, then old answers, oldest first: so
 * what does not fit comes up in a later run.
 */
export function planGuestLookups(
  guests: readonly Row[],
  { online, cache, ran, now }: { online: ReadonlySet<string>; cache: GuestCache; ran: ReadonlySet<string>; now: Epoch },
): GuestPlan {
  const candidates = guests
    .filter(
      (row) =>
        row['status'] !== 'running' &&
        flagOf(row['template']) !== true &&
        online.has(String(row['node'])) &&
        !row['lock'] &&
        !row['hastate'] &&
        numberOf(row['vmid']) !== null,
    )
    .map((row) => {
      const key = guestKey(row);
      const kept = Object.hasOwn(cache, key) ? cache[key] : undefined;
      const age = kept ? now - kept.readAt : Infinity;
      const order = kept?.onboot ? 1 : ran.has(key) ? 2 : kept ? 4 : 3;
      const isDue = order === 2 || age > (kept?.onboot ? askAgainAfter.shouldRun : askAgainAfter.other);
      return { row, order, readAt: kept?.readAt ?? 0, isDue, isKnown: age <= DAY_SEC };
    });
  const due = candidates
    .filter(({ isDue }) => isDue)
    .toSorted((a, b) => a.order - b.order || a.readAt - b.readAt || Number(a.row['vmid']) - Number(b.row['vmid']));
  return {
    ask: due.slice(0, maxLookups).map(({ row }) => row),
    left: due
      .slice(maxLookups)
      .filter(({ isKnown }) => !isKnown)
      .map(({ row }) => row),
  };
}
