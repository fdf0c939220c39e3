import { MINUTE, SECOND } from '@portal/domain/time';
import { openSemaphore } from '../semaphore.ts';

/** For whom work is done. */
export interface Whose {
  /** Null for the platform's own work, such as reading public sources. */
  tenantId: string | null;
  /** An account of the tenant, or another thing of its that asks by itself. */
  ownerId?: string;
}

export interface FairShareLimits {
  slots: number;
  /** Who may wait, in all. */
  queueLimit: number;
  /** Who may wait of one tenant. */
  tenantQueueLimit: number;
  refusal: () => Error;
  /** After this time, half of what was used counts no more. */
  halfLifeMs?: number;
  now?: () => number;
}

const maxNames = 10_000;

/**
 * Slots that tenants share by the time they use them. A free one goes to the tenant that has used the least lately, within it to the
 * owner and then to the kind of work of which the same holds, then in order of arrival. One tenant holds at most half of the slots, so
 * that another one finds a slot soon however long the work of the first one takes.
 */
export class FairShare {
  readonly #inSlot: ReturnType<typeof openSemaphore>;
  readonly #use: RecentUse;

  constructor({ slots, queueLimit, tenantQueueLimit, refusal, halfLifeMs = MINUTE, now }: FairShareLimits) {
    const perKey = Math.max(1, Math.floor(slots / 2));
    this.#inSlot = openSemaphore({ slots, perKey, queueLimit, queueLimitPerKey: tenantQueueLimit, refusal });
    this.#use = new RecentUse(halfLifeMs, now ?? (() => performance.now()));
  }

  /**
   * Does the work once it has its turn. Throws the refusal when too many wait, of this tenant or in all, and when that has not come
   * `until` then, by `performance.now()`.
   */
  run<T>(whose: Whose, kind: string, work: () => Promise<T>, until = Infinity): Promise<T> {
    const names = namesOf(whose, kind);
    const measured = async (): Promise<T> => {
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        for (const name of names) this.#use.add(name, performance.now() - startedAt);
      }
    };
    return this.#inSlot(measured, { key: names[0], until, rank: () => names.map((name) => this.#use.of(name)) });
  }

  /** Seconds until a tenant has used no more than that lately; null when that is so now. */
  secondsUntil(whose: Whose, budgetMs: number): number | null {
    return this.#use.secondsUntil(namesOf(whose, '')[0], budgetMs);
  }
}

/** From the tenant to its owner to the kind of work: each name holds the one before. */
function namesOf({ tenantId, ownerId = '' }: Whose, kind: string): [string, string, string] {
  const tenant = tenantId ?? '';
  return [tenant, `${tenant}\0${ownerId}`, `${tenant}\0${ownerId}\0${kind}`];
}

/** How much time each name has used, of which half counts no more after a while. */
class RecentUse {
  readonly #byName = new Map<string, { ms: number; at: number }>();
  readonly #halfLifeMs: number;
  readonly #now: () => number;

  constructor(halfLifeMs: number, now: () => number) {
    this.#halfLifeMs = halfLifeMs;
    this.#now = now;
  }

  of(name: string): number {
    const used = this.#byName.get(name);
    return used ? used.ms * 2 ** ((used.at - this.#now()) / this.#halfLifeMs) : 0;
  }

  add(name: string, more: number): void {
    const ms = this.of(name) + more;
    // The names last used stand last.
    this.#byName.delete(name);
    this.#byName.set(name, { ms, at: this.#now() });
    for (const [oldest] of this.#byName) {
      if (this.#byName.size <= maxNames && this.of(oldest) >= 1) break;
      this.#byName.delete(oldest);
    }
  }

  secondsUntil(name: string, budgetMs: number): number | null {
    const ms = this.of(name);
    return ms <= budgetMs ? null : Math.ceil((this.#halfLifeMs * Math.log2(ms / budgetMs)) / SECOND) || 1;
  }
}
