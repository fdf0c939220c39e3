import { type Connection, type PoolClient, Query, type QueryConfig, type QueryResult } from 'pg';
import type { Ahead } from './beginnings.ts';

export type Settle = (error: Error | null | undefined, result?: QueryResult) => void;

/** What the driver's own class has that its type leaves out. */
interface Shape {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}
interface DriverQuery {
  name: string;
  _result: Shape;
  _accumulateRows: boolean;
  submit(connection: Connection): void;
  prepare(connection: Connection): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: Connection): void;
}
const DriverQuery = Query as unknown as new (config: QueryConfig, values: unknown[], settle: Settle) => DriverQuery;

/** A connection as named statements use it. */
export interface Channel {
  /** How the rows of a statement are read, by its name. The server never changes that while the statement stays prepared. */
  shapes: Map<string, Shape>;
  /** The driver's connection, but that it asks for no description. */
  undescribed: Connection;
}

export function openChannel(client: PoolClient): Channel & { wire: Connection } {
  const { connection: wire } = client as unknown as { connection: Connection };
  const undescribed = Object.create(wire) as Connection;
  undescribed.describe = () => undefined;
  return { wire, undescribed, shapes: new Map() };
}

/**
 * A prepared statement that is described by the server on its first use alone, and that can have another one ahead of it in one
 * transaction: without a `begin` and a `commit` around them everything up to the driver's Sync is one
 * (PostgreSQL, Frontend/Backend Protocol, Pipelining).
 */
export class NamedStatement extends DriverQuery {
  readonly #channel: Channel;
  readonly #ahead: Ahead | null;
  /** Whether what the server answers next belongs to the statement ahead. */
  #isAhead: boolean;

  constructor(channel: Channel, ahead: Ahead | null, statement: QueryConfig, values: unknown[], settle: Settle) {
    super(statement, values, settle);
    this.#channel = channel;
    this.#ahead = ahead;
    this.#isAhead = ahead !== null;
  }

  /**
   * Writes the messages, once the driver has found nothing wrong with the statement: what is ahead of one that is then not sent
   * would begin the transaction of whatever came next.
   */
  override prepare(connection: Connection): void {
    if (this.#ahead) {
      connection.bind({ statement: this.#ahead.name, values: this.#ahead.values }, true);
      connection.execute({}, true);
    }
    const shape = this.#channel.shapes.get(this.name);
    if (shape) {
      Object.assign(this._result, shape);
      this._accumulateRows = true;
    }
    super.prepare(shape ? this.#channel.undescribed : connection);
  }

  override handleRowDescription(message: object): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.#channel.shapes.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }

  override handleDataRow(message: object): void {
    if (!this.#isAhead) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: Connection): void {
    if (this.#isAhead) this.#isAhead = false;
    else super.handleCommandComplete(message, connection);
  }
}
