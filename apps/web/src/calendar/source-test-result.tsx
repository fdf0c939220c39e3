import type { CalendarTestResult } from '@portal/client/interface';
import { Status } from '../ui/status.tsx';
import { texts } from './source-texts.ts';

/** How the test of a calendar went, and what to do if it failed. */
export function SourceTestResult({ result: { ok, error, calendars } }: { result: CalendarTestResult }) {
  const t = texts.value;
  if (!ok && error)
    return (
      <>
        <Status kind="error">
          <strong>{t.failures[error]}</strong>
        </Status>{' '}
        {t.advice[error]}
      </>
    );
  if (!calendars) return <Status kind="ok">{t.works}</Status>;
  if (calendars.length === 0) return <Status kind="warning">{t.noneFound}</Status>;
  return <Status kind="ok">{t.found(calendars.length)}</Status>;
}
