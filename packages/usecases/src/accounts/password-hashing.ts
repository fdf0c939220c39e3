import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';
import { unavailable } from '@portal/domain/errors';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';

// OWASP's first recommendation for argon2id as of 2026: 19 MiB, two passes, one lane. Raise, never lower.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;

const coalesceMs = 200;

export interface PasswordHashing {
  /**
   * To be awaited before somebody's hash is looked up. Resolves at once unless people wait for slots already; then together for
   * all who come until the queue runs low, after 200 ms at the latest. Hashes leave nothing else in the caches, so look-ups made
   * together cost a fraction of what each by itself does, and nobody's turn comes later for it.
   */
  coalesce(): Promise<void>;
  hash(password: string): Promise<string>;
  /**
   * Whether `password` belongs to `stored`. A null hash costs the same time and never matches,
   * so that nobody can tell by the clock which accounts exist or have a password.
   */
  verify(stored: string | null, password: string): Promise<boolean>;
  /** Whether the parameters have risen since this hash was made. */
  isOutdated(stored: string): boolean;
}

/**
 * Password hashing off the event loop, at most one hash per core at a time and in order of arrival:
 * a burst of sign-ins waits for itself instead of starving every other request.
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
      // A look-up takes about as long as a hash: let go one hash earlier, and the slots do not run dry meanwhile.
      if (inSlot.waiting() < 2 * slots) letGo();
    }
  }

  let coalesced: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  function letGo(): void {
    clearTimeout(timer);
    coalesced?.resolve();
    coalesced = null;
  }

  // Made on first use with today's parameters, so that an absent account costs what a present one costs.
  let decoy: Promise<string> | undefined;

  return {
    async coalesce() {
      if (inSlot.waiting() < slots) return;
      if (!coalesced) {
        coalesced = Promise.withResolvers();
        timer = setTimeout(letGo, coalesceMs);
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

/** The process's own. */
export const passwordHashing = resource(() => openPasswordHashing());
