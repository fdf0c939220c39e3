import type { GuestCache } from '@portal/domain/monitoring/guest-lookups';
import type { MailDay } from '@portal/domain/monitoring/mail-gateway';
import type { Epoch, CachedAnswers, Answer } from '@portal/domain/monitoring/poll-answers';

/**
 * What a run hands to the next run, stored as JSON with the status of the server. Each run changes a copy and stores it with its result.
 */
export interface PollState {
  /** The answers to follow-up questions. */
  parts: CachedAnswers;
  /** Questions without an answer so far, and since when they wait. */
  waiting: Record<string, Epoch>;
  /** Whether each guest starts with its node. */
  guests: GuestCache;
  /** Guests that ran during the last poll. */
  ran: string[];
  /** The server rejects the parameter for the direction of synchronizations. */
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

/** Size limit for the cached answers of one server as JSON: about ten thousand backup groups. */
const maxBytes = 1024 * 1024;

/**
 * Replaces the oldest answers by a failure until the rest fits into the size limit. The failure keeps a dropped answer from counting as
 * ok. If even the failure does not fit, the answer is deleted.
 */
export function limitCachedAnswers(parts: CachedAnswers): void {
  let remainingBytes = maxBytes;
  for (const [key, answer] of Object.entries(parts).toSorted(([, a], [, b]) => b.readAt - a.readAt)) {
    const dropped: Answer<unknown> = {
      readAt: answer.readAt,
      failure: null,
      message: 'the server reports more than the portal can store.',
    };
    const fitting = [answer, dropped].find((one) => bytesOf(key, one) <= remainingBytes);
    if (fitting) {
      parts[key] = fitting;
      remainingBytes -= bytesOf(key, fitting);
    } else {
      delete parts[key];
    }
  }
}

const bytesOf = (key: string, answer: Answer<unknown>): number => Buffer.byteLength(JSON.stringify({ [key]: answer }));
