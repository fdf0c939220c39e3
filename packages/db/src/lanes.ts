import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient, QueryConfig } from 'pg';
import { acrossTenantsBegins, type Ahead, setTenant } from './beginnings.ts';
import { builtFor, type Prepared, type Statements } from './prepared.ts';
import { type QueryByTurn, queryByTurn } from './turn.ts';

/** A connection that many short reads share, each sent behind the one before without waiting for its answer. */
interface Lane {
  client: PoolClient;
  query: QueryByTurn;
  /** The tenant of whatever is sent next; null while that is uncertain. */
  tenantId: string | null;
  /** Settles with the server's word on that tenant. */
  entered: Promise<unknown>;
  underWay: number;
  isBroken: boolean;
  /** Set only while a statement is being handed over; what comes at any other time is refused, see `makeLane`. */
  next: { ahead: Ahead | null } | null;
  db: NodePgDatabase;
  statements: Statements;
}

export interface Lanes {
  /** Reads for one tenant or, for null, across all of them over a shared connection; null when all lanes are as full as they may be. */
  run<Params extends Record<string, unknown>, Row>(
    tenantId: string | null,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> | null;
  close(): void;
}

// Statements on a lane take some 30 µs each: a full lane is a wait of a few milliseconds.
const maxUnderWay = 100;

/**
 * Lanes for the prepared reads of hot paths. A request on a connection of its own pays for two system calls and two process
 * switches of the server; on a lane everything that came in during one turn of the event loop shares them.
 * `tenantId` must have been checked to be a UUID.
 */
export function openLanes(connect: () => Promise<PoolClient>, count: number): Lanes {
  const lanes: (Lane | null)[] = Array.from({ length: count }, () => null);
  const opening = new Map<number, Promise<Lane>>();
  let isClosed = false;

  async function open(slot: number): Promise<Lane> {
    const lane = makeLane(await connect());
    if (isClosed) lane.client.release(true);
    else lanes[slot] = lane;
    lane.client.on('error', () => {
      lane.isBroken = true;
    });
    return lane;
  }

  /** The slot of a lane that serves this tenant already or, across tenants, none; else of the least busy one. */
  function slotFor(tenantId: string | null): number | null {
    let best: number | null = null;
    let bestLoad = maxUnderWay;
    for (const [slot, lane] of lanes.entries()) {
      if (lane?.isBroken) {
        lane.client.release(true);
        lanes[slot] = null;
      }
      const load = lanes[slot] ? (lane?.underWay ?? 0) - (lane?.tenantId === tenantId ? 8 : 0) : 4;
      if (load < bestLoad) [best, bestLoad] = [slot, load];
    }
    return best;
  }

  async function openAndRun<Params extends Record<string, unknown>, Row>(
    slot: number,
    tenantId: string | null,
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    let opened = opening.get(slot);
    if (!opened) {
      opened = open(slot).finally(() => opening.delete(slot));
      opening.set(slot, opened);
    }
    return send(await opened, tenantId, statement, params);
  }

  return {
    run(tenantId, statement, params) {
      const slot = slotFor(tenantId);
      if (slot === null) return null;
      const lane = lanes[slot];
      return lane ? send(lane, tenantId, statement, params) : openAndRun(slot, tenantId, statement, params);
    },
    close() {
      isClosed = true;
      for (const lane of lanes.splice(0)) lane?.client.release(true);
    },
  };
}

function makeLane(client: PoolClient): Lane {
  const query = queryByTurn(client);
  const lane: Lane = {
    client,
    query,
    tenantId: null,
    entered: Promise.resolve(),
    underWay: 0,
    isBroken: false,
    next: null,
    db: drizzle(
      {
        // Between the tenant and its statement nothing may be sent. A statement handed over later than that would
        // run for whichever tenant came after, so it is not sent at all.
        query(statement: QueryConfig, values?: unknown[]) {
          const { next } = lane;
          if (!next) throw new Error('a statement came too late for its tenant');
          lane.next = null;
          return query(statement, values, next.ahead);
        },
      } as unknown as PoolClient,
      { casing: 'snake_case' },
    ),
    statements: new Map(),
  };
  return lane;
}

async function send<Params extends Record<string, unknown>, Row>(
  lane: Lane,
  tenantId: string | null,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> {
  const built = builtFor(lane.db, lane.statements, statement);
  lane.underWay += 1;
  try {
    if (tenantId !== null && lane.tenantId !== tenantId) enter(lane, tenantId);
    const entered = tenantId === null ? null : lane.entered;
    lane.next = { ahead: tenantId === null ? acrossTenantsBegins.ahead : null };
    const answer = built.execute(params);
    lane.next = null;
    const rows = await answer;
    // Answered before the statement was; its rows count only if the server took the tenant.
    await entered;
    return rows;
  } finally {
    lane.underWay -= 1;
  }
}

function enter(lane: Lane, tenantId: string): void {
  lane.tenantId = tenantId;
  lane.entered = lane.query(setTenant(tenantId));
  lane.entered.catch(() => {
    // What was sent behind it fails with it, and the lane serves nobody else.
    lane.isBroken = true;
  });
}
