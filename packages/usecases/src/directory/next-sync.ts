import { type SQL, sql } from 'drizzle-orm';
import { ldapConfigs, ldapSyncRuns } from '@portal/db/schema/directory';

/** When the next synchronization starts: one interval from now, by the database's clock. */
export const nextSyncAt = sql`now() + make_interval(mins => ${ldapConfigs.syncIntervalMin})`;

/**
 * When the next synchronization starts after saving settings: one new interval after the last one started, but not in the past. So a
 * shorter interval takes effect at once, and repeated saving does not postpone the start. Null while switched off.
 */
export const nextSyncAfterSaving = ({
  isActive,
  syncIntervalMin,
}: {
  isActive: boolean;
  syncIntervalMin: number;
}): SQL | null =>
  isActive
    ? sql`greatest(now(), coalesce((select max(${ldapSyncRuns.createdAt}) from ${ldapSyncRuns}), now())
        + make_interval(mins => ${syncIntervalMin}))`
    : null;
