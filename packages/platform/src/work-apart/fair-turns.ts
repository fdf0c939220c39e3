import { MINUTE, SECOND } from '@portal/domain/time';

/** For whom work is done. */
export interface Whose {
  /** Null for the platform's own work, such as reading public sources. */
  tenantId: string | null;
  /** An account of the tenant, or another thing of its that asks by itself. */
  ownerId?: string;
}

export interface FairTurnsLimits {
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

interface Turn {
  tenant: string;
  /** From the tenant to its owner to the kind of work: each name holds the one before. */
  names: [tenant: string, owner: string, kind: string];
  enter: () => void;
}

const maxNames = 10_000;

/**
 * Slots that tenants share by the time they use them. A free one goes to the tenant that has used the least lately, within it to the
 * owner and then to the kind of work of which the same holds, then in order of arrival. One tenant holds at most half of the slots, so
 * that another one finds a slot soon however long the work of the first one takes.
 */
export class FairTurns {
  readonly #limits: FairTurnsLimits;
  readonly #waiting = new Set<Turn>();
  readonly #held = new Map<string, number>();
  readonly #perTenant: number;
  readonly #use: RecentUse;
  #running = 0;

  constructor(limits: FairTurnsLimits) {
    this.#limits = limits;
    this.#perTenant = Math.max(1, Math.floor(limits.slots / 2));
    this.#use = new RecentUse(limits.halfLifeMs ?? MINUTE, limits.now ?? (() => performance.now()));
  }

  /**
   * Does the work once it has its turn. Throws the refusal when too many wait, of this tenant or in all, and when that has not come
   * `until` then, by `performance.now()`.
   */
  async inTurn<T>(whose: Whose, kind: string, work: () => Promise<T>, until = Infinity): Promise<T> {
    const names = namesOf(whose, kind);
    const entered = Promise.withResolvers<void>();
    const turn: Turn = { tenant: names[0], names, enter: entered.resolve };
    this.#waiting.add(turn);
    this.#admit();
    if (this.#waiting.has(turn) && this.#isFull(turn.tenant)) {
      this.#waiting.delete(turn);
      throw this.#limits.refusal();
    }
    const giveUp = () => {
      if (this.#waiting.delete(turn)) entered.reject(this.#limits.refusal());
    };
    const timer = until === Infinity ? undefined : setTimeout(giveUp, until - performance.now());
    await entered.promise.finally(() => clearTimeout(timer));
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      for (const name of names) this.#use.add(name, performance.now() - startedAt);
      this.#running -= 1;
      this.#hold(turn.tenant, -1);
      this.#admit();
    }
  }

  /** Seconds until a tenant has used no more than that lately; null when that is so now. */
  secondsUntil(whose: Whose, budgetMs: number): number | null {
    return this.#use.secondsUntil(namesOf(whose, '')[0], budgetMs);
  }

  #isFull(tenant: string): boolean {
    const ofTenant = [...this.#waiting].filter((one) => one.tenant === tenant).length;
    return this.#waiting.size > this.#limits.queueLimit || ofTenant > this.#limits.tenantQueueLimit;
  }

  #admit(): void {
    while (this.#running < this.#limits.slots) {
      const next = this.#next();
      if (!next) return;
      this.#waiting.delete(next);
      this.#running += 1;
      this.#hold(next.tenant, 1);
      next.enter();
    }
  }

  #next(): Turn | undefined {
    let candidates = [...this.#waiting].filter(({ tenant }) => (this.#held.get(tenant) ?? 0) < this.#perTenant);
    for (const level of [0, 1, 2] as const) {
      const least = this.#leastUsed(new Set(candidates.map(({ names }) => names[level])));
      candidates = candidates.filter(({ names }) => names[level] === least);
    }
    return candidates[0];
  }

  /** Among equals, the first. */
  #leastUsed(names: Set<string>): string | null {
    let least: string | null = null;
    let leastMs = Number.POSITIVE_INFINITY;
    for (const name of names) {
      const ms = this.#use.of(name);
      if (ms < leastMs) [least, leastMs] = [name, ms];
    }
    return least;
  }

  #hold(tenant: string, more: number): void {
    const held = (this.#held.get(tenant) ?? 0) + more;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}

function namesOf({ tenantId, ownerId = '' }: Whose, kind: string): Turn['names'] {
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
