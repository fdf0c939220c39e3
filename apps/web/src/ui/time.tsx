import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { formatDate, formatDateTime, formatRelative, formatTime, type Instant, zoneName } from '../language.ts';

interface TimeProps {
  value: Instant;
  style?: 'datetime' | 'date' | 'time' | 'relative' | undefined;
}

/** An instant in the time zone of the organization; the tooltip names the zone. */
export function Time({ value, style = 'datetime' }: TimeProps) {
  useLayoutEffect(() => (style === 'relative' ? watchClock() : undefined), [style]);
  const text = style === 'relative' ? formatRelative(value, now.value) : formats[style](value);
  return (
    <time dateTime={new Date(value).toISOString()} title={`${formatDateTime(value)}, ${zoneName(value)}`}>
      {text}
    </time>
  );
}

const formats = { datetime: formatDateTime, date: formatDate, time: formatTime };

// One clock moves all relative times, and only while some are shown.
const stepMs = 30_000;
const now = signal(Date.now());
const toleratedMs = 1_000;
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function watchClock(): () => void {
  if (Date.now() - now.peek() > toleratedMs) now.value = Date.now();
  watchers += 1;
  timer ??= setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  }, stepMs);
  return () => {
    watchers -= 1;
    if (watchers > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
