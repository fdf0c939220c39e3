import { exceedsDeactivationLimit } from '@portal/domain/directory/plan';
import type { Changes } from './find-changes.ts';

/**
 * What keeps a run from going on without `force`, as a sentence; null when nothing does. Groups count like accounts, by themselves:
 * with a group go the rights it was granted, and no later run brings them back.
 */
export function deactivationLimitOf(
  { leaving, active }: Pick<Changes, 'leaving' | 'active'>,
  directory: { people: number; goneGroups: number; knownGroups: number },
): string | null {
  const switchedOff = leaving.filter(({ isSuperAdmin }) => !isSuperAdmin);
  const gone = switchedOff.filter(({ isExcluded }) => !isExcluded).length;
  const counted = active - (switchedOff.length - gone);
  if (exceedsDeactivationLimit(gone, counted)) {
    return directory.people === 0
      ? `The directory returned nobody, and all ${gone} accounts that came from it would be switched off.`
      : `${gone} of ${counted} accounts that came from the directory would be switched off.`;
  }
  const { goneGroups, knownGroups } = directory;
  return exceedsDeactivationLimit(goneGroups, knownGroups)
    ? `${goneGroups} of ${knownGroups} groups that came from the directory would be removed, and what was granted to them.`
    : null;
}
