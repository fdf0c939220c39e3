import { MINUTE, SECOND } from '@portal/domain/time';
import { openSemaphore } from '../semaphore.ts';

/** The owner of a task. */
export interface TaskOwner {
  /** Null for the platform's own work, such as reading public sources. */
  tenantId: string | null;
  /** An account of the tenant, or another object of the tenant with its own tasks. */
  ownerId?: string;
}

export interface FairShareLimits {
  slots: number;
  /** Maximum waiting tasks in total. */
  queueLimit: number;
  /** Maximum waiting tasks per tenant. */
  tenantQueueLimit: number;
  refusal: () => Error;
  /** After this time, past use counts half. */
  halfLifeMs?: number;
  now?: () => number;
}

const maxNames = 10_000;

/**
 * Slots that tenants share by time used. A free slot goes to the tenant with the least recent use, within the tenant to the owner and then
 * to the kind of work with the least recent use, then in order of arrival. One tenant holds at most half of the slots, so that another
 * tenant gets a slot soon, however long the first tenant's work takes.
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
   * Runs the work when its turn comes. Throws the refusal if too many tasks wait, of this tenant or in total, and if the turn has not come
   * by `until` (on the clock of `performance.now()`).
   */
  run<T>(owner: TaskOwner, kind: string, work: () => Promise<T>, until = Infinity): Promise<T> {
    const names = namesOf(owner, kind);
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

  /** Seconds until a tenant's recent use is within `budgetMs`; null if it is now. */
  secondsUntil(owner: TaskOwner, budgetMs: number): number | null {
    return this.#use.secondsUntil(namesOf(owner, '')[0], budgetMs);
  }
}

/** Names for tenant, owner and kind of work; each contains the previous one. */
function namesOf({ tenantId, ownerId = '' }: TaskOwner, kind: string): [string, string, string] {
  const tenant = tenantId ?? '';
  return [tenant, `${tenant}\0${ownerId}`, `${tenant}\0${ownerId}\0${kind}`];
}

/** The time that each name has used, with exponential decay. */
class RecentUse {
  readonly #byName = new Map<string, { ms: number; at: number }>();
  readonly #halfLifeMs: number;
  readonly #now: () => number;

  constructor(halfLifeMs: number, now: () => number) {
    this.#halfLifeMs = halfLifeMs;
    this.#now = now;
  }

  of(name: string): number {
    const use = this.#byName.get(name);
    return use ? use.ms * 2 ** ((use.at - this.#now()) / this.#halfLifeMs) : 0;
  }

  add(name: string, more: number): void {
    const ms = this.of(name) + more;
    // Keeps the names in order of last use.
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
