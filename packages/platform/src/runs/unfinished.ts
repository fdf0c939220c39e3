import { sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';

/** Runs that wait or run. Worded exactly like the table's partial indexes, so that plans can use them. */
export const isUnfinished = sql`${runs.state} in ('queued', 'running')`;
