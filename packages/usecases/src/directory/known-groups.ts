import { isNotNull } from 'drizzle-orm';
import { groups } from '@portal/db/schema/modules';
import type { KnownGroup } from '@portal/domain/directory-plan';
import type { Stage } from './staging.ts';

/** The tenant's groups that came from its directory. */
export const knownGroups = (stage: Stage): Promise<KnownGroup[]> =>
  stage.scope.read(async (db) => {
    const rows = await db
      .select({ id: groups.id, directoryId: groups.directoryId, internalName: groups.internalName })
      .from(groups)
      .where(isNotNull(groups.directoryId));
    return rows.map((row) => ({ ...row, directoryId: row.directoryId ?? '' }));
  });
