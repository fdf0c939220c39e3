import type { Tender } from '@portal/client/interface';
import { dayAt, daysBetween } from '../berlin-time.ts';
import { texts } from '../dashboards/widgets/feed-texts.ts';
import { Status, type StatusKind } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

/** How many days are left, in words and colour. */
export function DaysLeft({ at, now }: { at: string; now: number }) {
  const t = texts.value;
  if (Date.parse(at) < now) return <Status kind="unknown">{t.isOver}</Status>;
  const left = daysBetween(dayAt(now), dayAt(at));
  return <Status kind={urgencyOf(left)}>{t.daysLeft(left)}</Status>;
}

/** Days before a deadline from which it is very urgent, and urgent. */
const veryUrgentDays = 3;
const urgentDays = 7;

const urgencyOf = (left: number): StatusKind =>
  left <= veryUrgentDays ? 'error' : left <= urgentDays ? 'warning' : 'ok';

/** The deadline of a tender and how many days are left. */
export function DeadlineLeft({
  tender: { deadlineAt, deadlineIsDateOnly },
  now,
}: {
  tender: Pick<Tender, 'deadlineAt' | 'deadlineIsDateOnly'>;
  now: number;
}) {
  if (deadlineAt === null) return <>{texts.value.noDeadline}</>;
  return (
    <>
      <DaysLeft at={deadlineAt} now={now} />
      <br />
      <Time value={deadlineAt} style={deadlineIsDateOnly ? 'date' : 'datetime'} />
    </>
  );
}
