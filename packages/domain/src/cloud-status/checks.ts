import { z } from 'zod';
import type { AssessedVersion } from './releases.ts';

/** How a check ended, or what is reported of an instance. */
export const CheckState = z.enum(['ok', 'failed']);
export type CheckState = z.output<typeof CheckState>;

/** Failed checks in a row after which people are told. */
const failuresToReport = 2;
/** Counted no further. */
const maxCounted = 1_000_000;

export interface Standing {
  isActive: boolean;
  reportedState: CheckState;
  consecutiveFailures: number;
}

/**
 * How an instance stands after a check, and what people are told of it.
 *
 *     ok ── failed ──▶ ok, 1 failure ── failed ──▶ failed (an outage begins)
 *     ▲                     │                         │
 *     └────── reached ──────┴──────── reached ────────┘ (the outage ends)
 *
 * An instance that is switched off is counted on, but no outage of it begins.
 */
export function afterCheck(
  { isActive, reportedState, consecutiveFailures }: Standing,
  isReached: boolean,
): Pick<Standing, 'reportedState' | 'consecutiveFailures'> & { event: 'failed' | 'recovered' | null } {
  if (isReached) {
    const event = reportedState === 'failed' ? 'recovered' : null;
    return { reportedState: 'ok', consecutiveFailures: 0, event };
  }
  const failures = Math.min(consecutiveFailures + 1, maxCounted);
  const begins = reportedState === 'ok' && isActive && failures >= failuresToReport;
  return {
    reportedState: begins ? 'failed' : reportedState,
    consecutiveFailures: failures,
    event: begins ? 'failed' : null,
  };
}

export const Light = z
  .enum(['green', 'yellow', 'red', 'grey'])
  .describe(
    '`red` a failure was reported, or the release is out of support · `yellow` one failed check, maintenance, an unfinished update, a patch missing for more than 14 days, or support ends within 60 days · `grey` never checked, switched off, or the version cannot be rated · `green` everything else',
  );
export type Light = z.output<typeof Light>;

/** The traffic light of an instance (contract section 8). */
export function lightOf(
  instance: Pick<Standing, 'isActive' | 'reportedState'> & {
    lastCheckState: CheckState | null;
    isMaintenance: boolean;
    needsDbUpgrade: boolean;
  },
  { versionAssessment, isPatchOverdue }: Pick<AssessedVersion, 'versionAssessment' | 'isPatchOverdue'>,
): Light {
  const { isActive, lastCheckState, reportedState, isMaintenance, needsDbUpgrade } = instance;
  if (!isActive || lastCheckState === null) return 'grey';
  if (reportedState === 'failed' || versionAssessment === 'end-of-life') return 'red';
  if (lastCheckState === 'failed' || isMaintenance || needsDbUpgrade) return 'yellow';
  if (isPatchOverdue || versionAssessment === 'support-ending') return 'yellow';
  return versionAssessment === 'unknown' ? 'grey' : 'green';
}

/** When the mails of many instances become one: it is then the way there that has failed, and not each of them. */
export const together = {
  /** As many, at least. */
  min: 20,
  /** Of those that were checked within the window. */
  share: 0.8,
  windowMin: 10,
};

/** Whether so many of the instances checked lately have begun to fail that one mail tells of them all. */
export const areMailedTogether = ({ failing, checked }: { failing: number; checked: number }): boolean =>
  failing >= together.min && failing >= together.share * checked;
