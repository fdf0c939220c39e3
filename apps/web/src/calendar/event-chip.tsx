import type { CalendarSource } from '@portal/client/interface';
import { formatTime } from '../language.ts';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './calendar-page.module.css';
import { fullRange } from './day-formats.ts';
import type { Span } from './spans.ts';
import { texts } from './texts.ts';

/** What a view needs to show events. */
export interface ShownEvents {
  spans: readonly Span[];
  sources: ReadonlyMap<string, CalendarSource>;
  /** Opens the details of an event. */
  onOpen: (span: Span) => void;
  /** Opens the list of a day. */
  onOpenDay: (day: string) => void;
}

interface EventChipProps extends Pick<ShownEvents, 'sources' | 'onOpen'> {
  span: Span;
  /** The day that it is drawn on. */
  day: string;
  /** With as many lines as it has room for, and the name of the calendar. */
  isWhole?: boolean | undefined;
  /** Leaves out when it ends. */
  isNarrow?: boolean | undefined;
  tabIndex?: number | undefined;
  style?: Record<string, string> | undefined;
}

/** A button with an event in the colour of its calendar. */
export function EventChip({
  span,
  day,
  sources,
  onOpen,
  isWhole = false,
  isNarrow = !isWhole,
  tabIndex,
  style,
}: EventChipProps) {
  const { event, first, last } = span;
  const source = sources.get(event.sourceId);
  const time = span.isBar ? '' : timeText(span, day);
  // In a narrow line, the beginning must do.
  const begins = span.times && !span.isBar && first === day ? formatTime(span.times.start) : '';
  const shownTime = isNarrow ? begins : timeText(span, day);
  const title = event.title || texts.value.untitled;
  return (
    <button
      type="button"
      class={s.chip}
      tabIndex={tabIndex}
      title={[time, title, event.location, source?.name].filter(Boolean).join(' · ')}
      style={{ '--source': source?.color ?? '', ...(isWhole ? lines : oneLine), ...style }}
      onClick={(click) => {
        // The day below must not open, too.
        click.stopPropagation();
        onOpen(span);
      }}
    >
      <span>
        {shownTime} <bdi>{title}</bdi>
        {first !== last && <VisuallyHidden> {fullRange(first, last)}</VisuallyHidden>}
      </span>
      {isWhole ? (
        <span dir="auto" style={{ color: 'var(--text-muted)' }}>
          {[event.location, source?.name].filter(Boolean).join(' · ')}
        </span>
      ) : (
        <VisuallyHidden> {source?.name}</VisuallyHidden>
      )}
    </button>
  );
}

const oneLine = { whiteSpace: 'nowrap' };
// A button would centre its lines.
const lines = { display: 'flex', flexDirection: 'column' };

/** The time of an event as one day shows it, such as “10:00–11:00”, or “ab 22:00” for one that ends on a later day. */
export function timeText({ times, first, last }: Span, day: string): string {
  const t = texts.value;
  if (!times || (first < day && last > day)) return t.allDay;
  const { start, end } = times;
  if (first < day) return `${t.until} ${formatTime(end)}`;
  if (last > day) return `${t.from} ${formatTime(start)}`;
  return end > start ? `${formatTime(start)}–${formatTime(end)}` : formatTime(start);
}
