import { useQuery } from '@tanstack/preact-query';
import { CalendarPlus, ChevronLeft, ChevronRight } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CalendarSource } from '@portal/client/interface';
import { dayAt } from '../berlin-time.ts';
import { sourcesQuery } from '../dashboards/widgets/calendar-sources-query.ts';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { Page, Section } from '../ui/page.tsx';
import { EmptyState, FailedState, QueryView, StaleNote } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { AgendaView } from './agenda-view.tsx';
import { dayIn, daysOf, pageFrom, type View, views, weekNumber } from './calendar-days.ts';
import { dayRange, monthName } from './day-formats.ts';
import { DayDialog, EventDialog, SourceName } from './event-dialog.tsx';
import { MonthView } from './month-view.tsx';
import { useEvents } from './queries.ts';
import { SourceErrors } from './source-errors.tsx';
import { SourcesTab } from './sources-tab.tsx';
import { type Span, spansOf, spansOn } from './spans.ts';
import { texts } from './texts.ts';
import { useDayFocus } from './use-day-focus.ts';
import { WeekView } from './week-view.tsx';

const path = '/app/calendar';
const addressMs = 400;

/**
 * The person's calendars. The address says the view (`?view=`), the day (`?date=`) and which calendars are left out (`?hide=`). The sources
 * have a view of their own.
 */
export function CalendarPage() {
  const t = texts.value;
  const { query: params } = useLocation();
  const today = dayAt(useNow(60_000));
  const view = views.find((one) => one === params['view']) ?? 'month';
  const isAtSources = params['view'] === 'sources';
  const place: Place = { view, day: dayIn(params['date']) ?? today, today, hide: params['hide'] ?? '' };
  return (
    <Page title={pageNames.value.calendar}>
      <Tabs
        label={t.views}
        current={isAtSources ? 'sources' : view}
        tabs={[
          ...views.map((name) => ({ name, label: t.view[name], href: hrefOf({ ...place, view: name }) })),
          {
            name: 'sources' as const,
            label: t.view.sources,
            href: addressOf(path, { view: 'sources', date: params['date'], hide: params['hide'] }),
          },
        ]}
      />
      {isAtSources ? <SourcesTab /> : <Calendars place={place} />}
    </Page>
  );
}

interface Place {
  view: View;
  day: string;
  today: string;
  /** Ids of sources that are left out. */
  hide: string;
}

const hrefOf = ({ view, day, today, hide }: Place): string =>
  addressOf(path, { view: view === 'month' ? null : view, date: day === today ? null : day, hide });

function Calendars({ place }: { place: Place }) {
  const t = texts.value;
  const sources = useQuery(sourcesQuery);
  return (
    <QueryView
      query={sources}
      emptyState={
        <EmptyState
          icon={CalendarPlus}
          title={t.noCalendars}
          action={
            <LinkButton kind="primary" href={`${path}?view=sources&new=1`}>
              {t.toSources}
            </LinkButton>
          }
        >
          {t.noCalendarsText}
        </EmptyState>
      }
    >
      {(all) => (
        // What is open belongs to its view.
        <Events key={place.view} place={place} sources={all} />
      )}
    </QueryView>
  );
}

function Events({ place, sources: all }: { place: Place; sources: readonly CalendarSource[] }) {
  const t = texts.value;
  const { view, day, today } = place;
  const { route: go } = useLocation();
  const [open, setOpen] = useState<{ span?: Span; day?: string } | null>(null);
  const days = daysOf(view, day);
  const { query, answer } = useEvents(view, day);
  const sources = useMemo(() => new Map(all.map((source) => [source.id, source])), [all]);
  const hidden = new Set(place.hide.split(',').filter((id) => sources.has(id)));
  const spans = useMemo(
    () => spansOf(answer?.events.filter(({ sourceId }) => sources.has(sourceId) && !hidden.has(sourceId)) ?? []),
    [answer, sources, place.hide],
  );
  const show = (wanted: string, isReplaced = false) => go(hrefOf({ ...place, day: wanted }), isReplaced);
  const openDay = (wanted: string) => {
    const [span, ...others] = spansOn(spans, wanted);
    // One event needs no list.
    setOpen(span && others.length === 0 ? { span } : { day: wanted });
  };
  const focus = useDayFocus({ view, day, days, onLeave: (wanted) => show(wanted, true), onOpen: openDay });
  // The other views and a copied link show the chosen day. Browsers limit how often an address may change.
  useEffect(() => {
    if (focus.day === day) return undefined;
    const timer = setTimeout(() => show(focus.day, true), addressMs);
    return () => clearTimeout(timer);
  }, [focus.day, day]);
  const events = { spans, sources, onOpen: (span: Span) => setOpen({ ...open, span }), onOpenDay: openDay };
  const retry = () => void query.refetch();
  const title = titleOf(view, days, focus.day);
  const isLoading = answer === undefined;

  return (
    <Section
      title={title}
      actions={
        <>
          <IconButton icon={ChevronLeft} label={t.previous[view]} onClick={() => show(pageFrom(view, focus.day, -1))} />
          <Button onClick={() => show(today)}>{t.today}</Button>
          <IconButton icon={ChevronRight} label={t.next[view]} onClick={() => show(pageFrom(view, focus.day, 1))} />
        </>
      }
    >
      {query.error && answer && <StaleNote at={query.dataUpdatedAt} error={query.error} onRetry={retry} />}
      {query.error && !answer && <FailedState error={query.error} onRetry={retry} />}
      <div role="status">
        {isLoading && !query.error && `${t.loading} …`}
        <SourceErrors errors={answer?.errors ?? []} sources={sources} />
      </div>
      {all.every(({ isActive }) => !isActive) && <EmptyState title={t.allOff}>{t.allOffText}</EmptyState>}
      {view === 'month' && <MonthView days={days} today={today} focus={focus} events={events} label={title} />}
      {view === 'week' && (
        <WeekView days={days} today={today} focus={focus} events={events} label={title} isLoading={isLoading} />
      )}
      {view === 'agenda' && <AgendaView days={days} today={today} events={events} isLoading={isLoading} />}
      <Legend sources={all} hidden={hidden} place={place} />
      {open?.day && (
        <DayDialog
          day={open.day}
          weekHref={view === 'week' ? null : hrefOf({ ...place, view: 'week', day: open.day })}
          events={events}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.span && (
        <EventDialog
          span={open.span}
          source={sources.get(open.span.event.sourceId)}
          onClose={() => setOpen(open.day ? { day: open.day } : null)}
        />
      )}
    </Section>
  );
}

function titleOf(view: View, days: readonly string[], day: string): string {
  if (view === 'month') return monthName(day);
  const range = dayRange(days[0] ?? day, days.at(-1) ?? day);
  return view === 'week' ? texts.value.ofWeek(weekNumber(day), range) : range;
}

/** The calendars by colour. Each can be left out of the view. */
function Legend({ sources, hidden, place }: { sources: readonly CalendarSource[]; hidden: Set<string>; place: Place }) {
  const { route: go } = useLocation();
  const shown = sources.filter(({ isActive }) => isActive);
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    go(hrefOf({ ...place, hide: [...next].join(',') }), true);
  };
  if (shown.length === 0) return null;
  return (
    <div
      role="group"
      aria-label={texts.value.calendars}
      style={{ display: 'flex', flexWrap: 'wrap', gap: 'var(--s1)' }}
    >
      {shown.map((source) => (
        <Button
          key={source.id}
          kind="ghost"
          size="small"
          aria-pressed={!hidden.has(source.id)}
          onClick={() => toggle(source.id)}
        >
          <SourceName source={source} />
        </Button>
      ))}
    </div>
  );
}
