import { exceedsDeactivationLimit } from '@portal/domain/directory/plan';
import type { Changes } from './find-changes.ts';

/**
 * The reason why a run needs `force`, as a sentence; null if it does not. Applies the limit to accounts and to groups separately: a
 * removed group loses its grants, and no later run restores them.
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
      ? `The directory returned no people, so all ${gone} accounts that came from it would be switched off.`
      : `${gone} of ${counted} accounts that came from the directory would be switched off.`;
  }
  const { goneGroups, knownGroups } = directory;
  return exceedsDeactivationLimit(goneGroups, knownGroups)
    ? `${goneGroups} of ${knownGroups} groups that came from the directory would be removed, together with everything granted to them.`
    : null;
}
