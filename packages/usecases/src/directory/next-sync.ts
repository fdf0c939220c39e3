import { type SQL, sql } from 'drizzle-orm';
import { ldapConfigs, ldapSyncRuns } from '@portal/db/schema/directory';

/** When the next synchronization begins, by the database's clock: one interval from now. */
export const nextSyncAt = sql`now() + make_interval(mins => ${ldapConfigs.syncIntervalMin})`;

/**
 * The same for settings that are being saved: one new interval after the last synchronization began, so that a shorter one
 * takes effect at once and saving again and again puts nothing off; at once when that is past. Null while switched off.
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
