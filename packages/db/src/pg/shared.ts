import type { PoolClient } from 'pg';
import { holdBack } from './transaction.ts';

/** A connection that many short reads share, each sent behind the one before without waiting for its answer. */
interface Shared {
  client: Promise<PoolClient>;
  underWay: number;
}

export interface SharedConnections {
  /** Null when all of them are as full as they may be. What `send` sends, it hands over whole before it returns. */
  run<Row>(send: (client: PoolClient) => Promise<Row[]>): Promise<Row[]> | null;
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

  async function runOn<Row>(shared: Shared, send: (client: PoolClient) => Promise<Row[]>): Promise<Row[]> {
    shared.underWay += 1;
    try {
      const client = await shared.client;
      holdBack(client);
      return await send(client);
    } finally {
      shared.underWay -= 1;
    }
  }

  return {
    run(send) {
      let best = open.size < count ? add() : null;
      for (const shared of open) if (!best || shared.underWay < best.underWay) best = shared;
      return best && best.underWay < maxUnderWay ? runOn(best, send) : null;
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
