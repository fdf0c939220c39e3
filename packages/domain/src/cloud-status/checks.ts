import { z } from 'zod';
import type { AssessedVersion } from './releases.ts';

/** The result of a check, or the reported state of an instance. */
export const CheckState = z.enum(['ok', 'failed']);
export type CheckState = z.output<typeof CheckState>;

/** Failed checks in a row until an outage is reported. */
const failuresToReport = 2;
/** The counter stops here. */
const maxCounted = 1_000_000;

export interface InstanceState {
  isActive: boolean;
  reportedState: CheckState;
  consecutiveFailures: number;
}

/**
 * The state of an instance after a check, and the event to report.
 *
 *     ok ── failed ──▶ ok, 1 failure ── failed ──▶ failed (an outage begins)
 *     ▲                     │                         │
 *     └────── reached ──────┴──────── reached ────────┘ (the outage ends)
 *
 * Failures of a switched-off instance are counted, but do not begin an outage.
 */
export function afterCheck(
  { isActive, reportedState, consecutiveFailures }: InstanceState,
  isReached: boolean,
): Pick<InstanceState, 'reportedState' | 'consecutiveFailures'> & { event: 'failed' | 'recovered' | null } {
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

export const TrafficLight = z
  .enum(['green', 'yellow', 'red', 'grey'])
  .describe(
    '`red` a failure was reported, or the release is out of support · `yellow` one failed check, maintenance, an unfinished update, a patch missing for more than 14 days, or support ends within 60 days · `grey` never checked, switched off, or the version cannot be rated · `green` everything else',
  );
export type TrafficLight = z.output<typeof TrafficLight>;

/** From the worst to the best. */
export const worstFirst: readonly TrafficLight[] = ['red', 'yellow', 'grey', 'green'];

/** The traffic light of an instance. */
export function lightOf(
  instance: Pick<InstanceState, 'isActive' | 'reportedState'> & {
    lastCheckState: CheckState | null;
    isMaintenance: boolean;
    needsDbUpgrade: boolean;
  },
  { versionAssessment, isPatchOverdue }: Pick<AssessedVersion, 'versionAssessment' | 'isPatchOverdue'>,
): TrafficLight {
  const { isActive, lastCheckState, reportedState, isMaintenance, needsDbUpgrade } = instance;
  if (!isActive || lastCheckState === null) return 'grey';
  if (reportedState === 'failed' || versionAssessment === 'end-of-life') return 'red';
  if (lastCheckState === 'failed' || isMaintenance || needsDbUpgrade) return 'yellow';
  if (isPatchOverdue || versionAssessment === 'support-ending') return 'yellow';
  return versionAssessment === 'unknown' ? 'grey' : 'green';
}

/** When many failures are reported in one mail, because the connection has probably failed rather than each cloud. */
export const massOutage = {
  /** Failing instances, at least. */
  min: 20,
  /** Share of the instances checked within the window. */
  share: 0.8,
  windowMin: 10,
};

/** Whether enough of the recently checked instances have begun to fail to report them in one mail. */
export const isMassOutage = ({ failing, checked }: { failing: number; checked: number }): boolean =>
  failing >= massOutage.min && failing >= massOutage.share * checked;
