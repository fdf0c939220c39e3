import type { ReminderNotice } from '@portal/client/interface';

/** The notices of due reminders that this browser has fetched. */
export interface NoticeFeed {
  /** Newest first. */
  notices: ReminderNotice[];
  /** What the next call asks for; null asks for everything. */
  since: string | null;
  /** When everything was fetched, in milliseconds since 1970. */
  wholeAt: number;
}

interface Answer {
  notices: readonly ReminderNotice[];
  /** The header `X-Server-Time`; null if a proxy removed it. */
  serverTime: string | null;
  /** When the answer arrived, in milliseconds since 1970. */
  at: number;
}

// A call with `since` does not tell which notices are gone because somebody deleted their reminder elsewhere.
const wholeEveryMs = 600_000;
const listedForMs = 14 * 86_400_000;

/** The `since` of the next call; null if it has to fetch everything. */
export const nextSince = (feed: NoticeFeed | undefined, now: number): string | null =>
  feed && now - feed.wholeAt < wholeEveryMs ? feed.since : null;

/** The feed after an answer. `before` is undefined if the call asked for everything. */
export function mergeNotices(before: NoticeFeed | undefined, { notices, serverTime, at }: Answer): NoticeFeed {
  const known = new Set(notices.map(({ id }) => id));
  const oldest = new Date((serverTime === null ? at : Date.parse(serverTime)) - listedForMs).toISOString();
  const kept = before?.notices.filter((notice) => !known.has(notice.id) && notice.at > oldest) ?? [];
  return {
    notices: [...notices, ...kept].toSorted((a, b) => b.at.localeCompare(a.at)),
    since: serverTime,
    wholeAt: before?.wholeAt ?? at,
  };
}

/** The notices that came after the person last looked at the list; null if they never did. */
export const unreadNotices = ({ notices }: NoticeFeed, seenUntil: string | null): ReminderNotice[] =>
  notices.filter(({ at }) => seenUntil === null || at > seenUntil);
