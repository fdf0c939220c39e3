import type { CloudInstance } from '@portal/client/interface';
import { reasonsOf } from '../dashboards/widgets/cloud-reasons.ts';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import { texts } from './texts.ts';

export const kinds = { red: 'error', yellow: 'warning', grey: 'unknown', green: 'ok' } as const;

export const lightWord = ({ light }: Pick<CloudInstance, 'light'>): string => statusTexts.value.lights[light];

/** Why the cloud has its light, the gravest reason first. */
export const reasonWords = (cloud: CloudInstance): string[] =>
  reasonsOf(cloud).map((reason) => statusTexts.value.reasons[reason]);

/** The class of the last failure in words; null if the last check went well. */
export const failureWord = ({ failure }: CloudInstance): string | null =>
  failure === null ? null : statusTexts.value.failures[failure];

export function versionWords({ version, productName, latestVersion }: CloudInstance): string {
  if (version === null) return [productName, texts.value.versionHidden].filter(Boolean).join(': ');
  const name = [productName, version].filter(Boolean).join(' ');
  return latestVersion === null || latestVersion === version ? name : `${name}, ${texts.value.latest(latestVersion)}`;
}

const hourMs = 3_600_000;
/** A cloud is checked every hour. */
const staleHours = 3;

/** Whether the checks of a monitored cloud have stopped, so that what is shown may be wrong. */
export const isStale = ({ isActive, checkedAt }: CloudInstance): boolean =>
  isActive && checkedAt !== null && Date.now() - Date.parse(checkedAt) > staleHours * hourMs;
