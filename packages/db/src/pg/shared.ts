import type { PoolClient } from 'pg';
import type { Prepared } from '../prepared.ts';
import type { Preamble } from './preamble.ts';
import { runAlone } from './transaction.ts';

/** A connection that many short reads share, each sent behind the one before without waiting for its answer. */
interface Shared {
  client: Promise<PoolClient>;
  underWay: number;
}

export interface SharedConnections {
  /** Null when all of them are as full as they may be. */
  run<Params extends Record<string, unknown>, Row>(
    preamble: Preamble,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> | null;
  close(): void;
}

// A read takes the server some 100 µs: a full connection is a wait of about ten milliseconds.
const maxUnderWay = 100;

/** Connections for the prepared reads of hot paths: what comes in together travels together, and wakes the server once. */
export function openSharedConnections(connect: () => Promise<PoolClient>, count: number): SharedConnections {
  const open = new Set<Shared>();

  function add(): Shared {
    const shared: Shared = { client: connect(), underWay: 0 };
    open.add(shared);
    shared.client.then(
      (client) => client.once('error', () => drop(shared, client)),
      () => open.delete(shared),
    );
    return shared;
  }

  function drop(shared: Shared, client: PoolClient): void {
    if (open.delete(shared)) client.release(true);
  }

  async function runOn<Params extends Record<string, unknown>, Row>(
    shared: Shared,
    preamble: Preamble,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    shared.underWay += 1;
    try {
      return await runAlone(await shared.client, preamble, statement, params);
    } finally {
      shared.underWay -= 1;
    }
  }

  return {
    run(preamble, statement, params) {
      let best = open.size < count ? add() : null;
      for (const shared of open) if (!best || shared.underWay < best.underWay) best = shared;
      return best && best.underWay < maxUnderWay ? runOn(best, preamble, statement, params) : null;
    },
    close() {
      for (const shared of open)
        shared.client.then(
          (client) => drop(shared, client),
          () => undefined,
        );
    },
  };
}
