import type { CloudInstance } from '@portal/client/interface';

export type CloudReason =
  | 'off'
  | 'unchecked'
  | 'failed'
  | 'endOfLife'
  | 'failedOnce'
  | 'maintenance'
  | 'upgrade'
  | 'supportEnding'
  | 'patch'
  | 'major'
  | 'current'
  | 'reachable';

/** Why an instance has its light: the reasons that made it, the gravest first. */
export function reasonsOf(instance: CloudInstance): CloudReason[] {
  const { light, versionAssessment: version, isMaintenance, needsDbUpgrade } = instance;
  if (!instance.isActive) return ['off'];
  if (instance.checkedAt === null) return ['unchecked'];
  const reasons: (CloudReason | false)[] = [
    instance.reportedState === 'failed' && 'failed',
    version === 'end-of-life' && 'endOfLife',
    instance.reportedState !== 'failed' && instance.lastCheckState === 'failed' && 'failedOnce',
    isMaintenance && 'maintenance',
    needsDbUpgrade && 'upgrade',
    version === 'support-ending' && 'supportEnding',
    // A newer patch or major version is no fault by itself.
    version === 'patch-available' && 'patch',
    version === 'major-available' && light === 'green' && 'major',
  ];
  const found = reasons.filter((reason) => reason !== false);
  if (found.length > 0) return found;
  return [version === 'current' ? 'current' : 'reachable'];
}
