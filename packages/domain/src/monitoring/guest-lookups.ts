import { DAY_SEC, MINUTE_SEC, type Epoch } from './poll-answers.ts';
import { flagOf, numberOf, type Row } from './rows.ts';

/** Whether each guest starts with its node, as last read, by kind and number. */
export type GuestCache = Record<string, { onboot: boolean; readAt: Epoch }>;

export interface GuestPlan {
  /** Guests to look up now, in this order. */
  ask: Row[];
  /** Unknown guests that this run has no lookup left for. */
  left: Row[];
}

/** Lookups of one run. */
export const maxLookups = 40;

/** A guest that should run is looked up again soon, the others once a day. */
const askAgainAfter = { shouldRun: 10 * MINUTE_SEC, other: DAY_SEC };

export const guestKey = (row: Row): string => `${String(row['type'])}/${String(row['vmid'])}`;

/**
 * Selects the guests to look up. Candidates are stopped and not locked; guests under HA have their own rules. Guests that should run
 * come first, then those that ran during the last poll, then unknown ones, then old answers, oldest first. The rest follows in
 * later runs.
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
      const cached = Object.hasOwn(cache, key) ? cache[key] : undefined;
      const age = cached ? now - cached.readAt : Infinity;
      const order = cached?.onboot ? 1 : ran.has(key) ? 2 : cached ? 4 : 3;
      const isDue = order === 2 || age > (cached?.onboot ? askAgainAfter.shouldRun : askAgainAfter.other);
      return { row, order, readAt: cached?.readAt ?? 0, isDue, isKnown: age <= DAY_SEC };
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
