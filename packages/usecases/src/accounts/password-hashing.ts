import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';
import { unavailable } from '@portal/domain/errors';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';

// OWASP's first recommendation for argon2id as of 2026: 19 MiB, two passes, one lane. Raise, never lower. `@node-rs/argon2` takes 20 ms
// where `argon2` takes 33 ms. A third pass (31 ms) would cost attackers half as much again, about half a bit; one more letter in a password
// is worth ten times that. OWASP's other choice, 46 MiB and one pass, takes 29 ms and twice the memory.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;

const coalesceMs = 200;

export interface PasswordHashing {
  /**
   * Await this before reading an account's hash. Resolves at once unless sign-ins already wait for slots; then it resolves for all
   * callers together when the queue runs low, after 200 ms at the latest. Hashing evicts everything else from the CPU caches, so
   * lookups made together cost a fraction of separate ones, and no sign-in waits longer for its slot.
   */
  coalesce(): Promise<void>;
  hash(password: string): Promise<string>;
  /**
   * Whether `password` matches the hash `stored`. A null hash takes the same time and never matches,
   * so that the time does not reveal which accounts exist or have a password.
   */
  verify(stored: string | null, password: string): Promise<boolean>;
  /** Whether this hash was made with weaker parameters than today's. */
  isOutdated(stored: string): boolean;
}

/**
 * Hashes passwords off the event loop, at most one per core at a time and in order of arrival, so that a burst of sign-ins delays
 * only sign-ins and not every other request.
 */
export function openPasswordHashing({
  slots = callLimits.passwordHashes.slots,
  queueLimit = callLimits.passwordHashes.queueLimit,
} = {}): PasswordHashing {
  const inSlot = openSemaphore({
    slots,
    queueLimit,
    refusal: () => unavailable('Too many people are signing in right now. Please try again in a few seconds.'),
  });

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await inSlot(work);
    } finally {
      // A lookup takes about as long as a hash, so release one hash early to keep the slots busy.
      if (inSlot.waiting() < 2 * slots) releaseAll();
    }
  }

  let coalesced: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  function releaseAll(): void {
    clearTimeout(timer);
    coalesced?.resolve();
    coalesced = null;
  }

  // Made on first use with today's parameters, so that a missing account takes as long as an existing one.
  let decoy: Promise<string> | undefined;

  return {
    async coalesce() {
      if (inSlot.waiting() < slots) return;
      if (!coalesced) {
        coalesced = Promise.withResolvers();
        timer = setTimeout(releaseAll, coalesceMs);
      }
      await coalesced.promise;
    },
    hash: (password) => inTurn(() => hash(password, parameters)),
    async verify(stored, password) {
      decoy ??= hash('no account has this password', parameters);
      const against: string = stored ?? (await decoy);
      const matches = await inTurn(() => verify(against, password));
      return matches && stored !== null;
    },
    isOutdated(stored) {
      const made = parseOptions(stored);
      return (
        made.memoryCost < parameters.memoryCost ||
        made.timeCost < parameters.timeCost ||
        made.parallelism !== parameters.parallelism
      );
    },
  };
}

export const passwordHashing = resource(() => openPasswordHashing());
