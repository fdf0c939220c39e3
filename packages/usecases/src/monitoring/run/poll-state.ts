import type { GuestCache } from '@portal/domain/monitoring/guest-lookups';
import type { MailDay } from '@portal/domain/monitoring/mail-gateway';
import type { Epoch, KeptParts, Part } from '@portal/domain/monitoring/parts';

/** What one run leaves for the next, with the server’s status. Each run works on a copy that is stored with what it found. */
export interface PollState {
  parts: KeptParts;
  /** Parts that were never read, and since when they are wanted. */
  waiting: Record<string, Epoch>;
  /** Whether guests should run. */
  guests: GuestCache;
  /** Guests that ran at the last poll. */
  ran: string[];
  /** The server does not know the direction of synchronizations. */
  knowsNoDirection: boolean;
  /** Mails of the last days. */
  days: MailDay[];
  laggingSince: Epoch | null;
}

export const pollStateOf = (stored: unknown): PollState => ({
  parts: {},
  waiting: {},
  guests: {},
  ran: [],
  knowsNoDirection: false,
  days: [],
  laggingSince: null,
  ...(stored as Partial<PollState> | null),
});

/** What the parts of one server may take up as JSON: about ten thousand groups of backups. */
const maxBytes = 1024 * 1024;

/**
 * Gives up the parts that were read longest ago until the others fit. Of each remains that there was no room for it, so that it is
 * not taken for one that is well; and nothing at all where even that would be too much.
 */
export function fitParts(parts: KeptParts): void {
  let room = maxBytes;
  for (const [key, part] of Object.entries(parts).toSorted(([, a], [, b]) => b.readAt - a.readAt)) {
    const given: Part<unknown> = {
      readAt: part.readAt,
      failure: null,
      message: 'the server says more than can be kept.',
    };
    const fitting = [part, given].find((one) => bytesOf(key, one) <= room);
    if (fitting) {
      parts[key] = fitting;
      room -= bytesOf(key, fitting);
    } else {
      delete parts[key];
    }
  }
}

const bytesOf = (key: string, part: Part<unknown>): number => Buffer.byteLength(JSON.stringify({ [key]: part }));
