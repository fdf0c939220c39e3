import type { GuestCache } from '@portal/domain/monitoring/guest-lookups';
import type { MailDay } from '@portal/domain/monitoring/mail-gateway';
import type { Epoch, KeptParts } from '@portal/domain/monitoring/parts';

/** What one run leaves for the next, with the server’s status. Each run works on a copy that is stored with what it found. */
export interface Memory {
  parts: KeptParts;
  /** Parts that were never read, and since when they are wanted. */
  waiting: Record<string, Epoch>;
  /** Whether guests should run. */
  guests: GuestCache;
  /** Guests that ran at the last look. */
  ran: string[];
  /** The server does not know the direction of synchronizations. */
  knowsNoDirection: boolean;
  /** Mails of the last days. */
  days: MailDay[];
  laggingSince: Epoch | null;
}

export const memoryOf = (stored: unknown): Memory => ({
  parts: {},
  waiting: {},
  guests: {},
  ran: [],
  knowsNoDirection: false,
  days: [],
  laggingSince: null,
  ...(stored as Partial<Memory> | null),
});
