import { sql } from 'drizzle-orm';
import { runs } from '@portal/db/schema/platform/operations';

/** Runs that wait or are at work. Said as the partial indexes of the table say it, so that every plan can use them. */
export const isUnfinished = sql`${runs.state} in ('queued', 'running')`;
