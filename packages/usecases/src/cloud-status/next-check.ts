import { type SQL, sql, type SQLWrapper } from 'drizzle-orm';

/** The next time an instance with this second of the hour is due, by the database clock. */
export const nextSlot = (slotSec: SQLWrapper | number): SQL =>
  sql`to_timestamp((floor((extract(epoch from now()) - ${slotSec}) / 3600) + 1) * 3600 + ${slotSec})`;

/** When a failed check is repeated. */
export const nextAfterFailure = sql`now() + interval '5 minutes'`;
