import type { CalendarEventsError, CalendarSource } from '@portal/client/interface';
import { texts as feedTexts } from '../dashboards/widgets/feed-texts.ts';
import { Status } from '../ui/status.tsx';
import { texts } from './texts.ts';

interface SourceErrorsProps {
  errors: readonly CalendarEventsError[];
  sources: ReadonlyMap<string, CalendarSource>;
}

/** The calendars that could not be read completely. What was last read of them is shown. */
export function SourceErrors({ errors, sources }: SourceErrorsProps) {
  const t = texts.value;
  return (
    <>
      {errors.map(({ sourceId, error, lines, lineCount }) => {
        const source = sources.get(sourceId);
        if (!source) return null;
        const { badLines, errors: words } = feedTexts.value;
        return (
          <div key={sourceId}>
            <Status kind="warning">
              <strong dir="auto">{source.name}</strong>:{' '}
              {error === 'invalid' && lineCount ? badLines(lineCount) : words[error]}{' '}
              <a href={`/app/calendar?view=sources&edit=${sourceId}`}>{t.check}</a>
            </Status>
            {lines && lines.length > 0 && (
              <details>
                <summary>{t.lines}</summary>
                <ul>
                  {lines.map(({ line, code, reason }, at) => (
                    <li key={at}>
                      {t.line(line)}: <code>{reason.split(' ', 1)[0]}</code> {t.findings[code]}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </div>
        );
      })}
    </>
  );
}
