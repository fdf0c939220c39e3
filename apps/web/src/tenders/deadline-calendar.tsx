import { ChevronLeft, ChevronRight } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { Tender } from '@portal/client/interface';
import { addDays, dayAt } from '../berlin-time.ts';
import { formatDate, language } from '../language.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { QueryView } from '../ui/states.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { useTenderPages } from './queries.ts';
import {
  beginning,
  deadlineDays,
  end,
  queryOf,
  type Shown,
  type TenderFilter,
  tendersAddress,
} from './tender-filter.ts';
import s from './tenders.module.css';
import { texts } from './texts.ts';

interface CalendarProps {
  filter: TenderFilter;
  shown: Shown;
  today: string;
  /** Called once the first deadlines are there. */
  onRead: () => void;
}

const size = 200;
/** Read by themselves; a person asks for more. */
const firstPages = 5;
/** Tenders of one day that its cell names. */
const perDay = 3;

/** The deadlines of what the filter finds, one month at a time. */
export function DeadlineCalendar({ filter, shown, today, onRead }: CalendarProps) {
  const t = texts.value;
  const month = shown.month || today.slice(0, 7);
  const days = daysOf(month);
  const [firstDay = today] = days;
  const lastDay = days.at(-1) ?? firstDay;
  const asked = deadlineDays(filter, today);
  const from = asked.from > firstDay ? asked.from : firstDay;
  const to = asked.to && asked.to < lastDay ? asked.to : lastDay;
  const all = queryOf(filter, today);
  const query = { ...all, deadlineFrom: beginning(from), deadlineTo: end(to) };
  const list = useTenderPages({ query, sort: 'deadline', size, enabled: from <= to });
  const tenders = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const dated = tenders.flatMap((tender) => (tender.deadlineAt ? [{ tender, day: dayAt(tender.deadlineAt) }] : []));
  // Those without a deadline come last.
  const isMore = list.hasNextPage && !list.isPlaceholderData && dated.length === tenders.length;
  const pages = list.data?.pages.length ?? 0;
  const key = JSON.stringify(all);

  useEffect(() => {
    if (isMore && pages < firstPages && !list.isFetchingNextPage && !list.isError) void list.fetchNextPage();
  }, [isMore, pages, list.isFetchingNextPage]);
  const isRead = list.isSuccess && !list.isPlaceholderData;
  useEffect(() => {
    if (isRead) onRead();
  }, [isRead, key]);

  const byDay = Map.groupBy(dated, ({ day }) => day);
  const monthAddress = (other: string) => tendersAddress(filter, { ...shown, view: 'calendar', month: other });
  const lastRead = dated.at(-1)?.day;
  const grid = (
    <>
      <Month
        caption={t.month(monthName(month))}
        days={days}
        today={today}
        tendersOn={(day) => (byDay.get(day) ?? []).map(({ tender }) => tender)}
        addressOn={(day) =>
          tendersAddress({ ...filter, due: '', deadlineFrom: day, deadlineTo: day }, { sort: 'deadline' })
        }
      />
      {isMore && pages >= firstPages && lastRead && (
        <p class={s.row}>
          {t.readUpTo(formatDate(lastRead))}
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t.readMore}
          </Button>
        </p>
      )}
      {dated.length === 0 && !list.isFetching && <p role="status">{t.noDeadlines}</p>}
      <p class={s.muted}>{t.undated}</p>
    </>
  );
  return (
    <>
      <div class={s.row}>
        <LinkButton href={monthAddress(addDays(firstDay, -1).slice(0, 7))} icon={ChevronLeft} size="small">
          <VisuallyHidden>{t.previousMonth}</VisuallyHidden>
        </LinkButton>
        <h2>{monthName(month)}</h2>
        <LinkButton href={monthAddress(addDays(lastDay, 1).slice(0, 7))} icon={ChevronRight} size="small">
          <VisuallyHidden>{t.nextMonth}</VisuallyHidden>
        </LinkButton>
        <LinkButton href={monthAddress('')} size="small">
          {t.thisMonth}
        </LinkButton>
      </div>
      {from <= to ? <QueryView query={list}>{() => grid}</QueryView> : grid}
    </>
  );
}

interface MonthProps {
  caption: string;
  days: readonly string[];
  today: string;
  tendersOn: (day: string) => readonly Tender[];
  /** The list of a day. */
  addressOn: (day: string) => string;
}

function Month({ caption, days, today, tendersOn, addressOn }: MonthProps) {
  const [first = today] = days;
  const blanks = (new Date(first).getUTCDay() + 6) % 7;
  const cells = [...Array.from({ length: blanks }, () => null), ...days];
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) => cells.slice(week * 7, week * 7 + 7));
  return (
    <table class={s.month} {...as.table}>
      <caption>
        <VisuallyHidden>{caption}</VisuallyHidden>
      </caption>
      <thead {...as.rowgroup}>
        <tr {...as.row}>
          {/* 5 January 2026 is a Monday. */}
          {Array.from({ length: 7 }, (_, weekday) => (
            <th key={weekday} scope="col" {...as.columnheader}>
              {format('2026-01-05', weekday, { weekday: 'short' })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...as.rowgroup}>
        {weeks.map((week, at) => (
          <tr key={week.find((day) => day !== null) ?? at} {...as.row}>
            {Array.from({ length: 7 }, (_, weekday) => {
              const day = week[weekday] ?? null;
              if (day === null) return <td key={weekday} {...as.cell} data-empty aria-label={texts.value.otherMonth} />;
              return (
                <Day key={day} day={day} isToday={day === today} tenders={tendersOn(day)} address={addressOn(day)} />
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// On telephones the table is laid out as a list, and some browsers would forget the roles.
const as = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const;

interface DayProps {
  day: string;
  isToday: boolean;
  tenders: readonly Tender[];
  address: string;
}

function Day({ day, isToday, tenders, address }: DayProps) {
  const t = texts.value;
  const label = format(day, 0, { weekday: 'short', day: 'numeric' });
  const hidden = tenders.length - perDay;
  return (
    <td {...as.cell} data-empty={tenders.length === 0 || undefined} aria-current={isToday ? 'date' : undefined}>
      {isToday ? <Badge kind="accent">{label}</Badge> : <span class={s.muted}>{label}</span>}
      {tenders.slice(0, perDay).map(({ id, title, triage }) => (
        <a key={id} href={`/app/tenders/${id}`} title={title} dir="auto">
          {triage.read ? title : <strong>{title}</strong>}
        </a>
      ))}
      {hidden > 0 && (
        <a href={address} aria-label={t.moreOf(hidden, formatDate(day))}>
          {t.moreOn(hidden)}
        </a>
      )}
    </td>
  );
}

function daysOf(month: string): string[] {
  const days = Array.from({ length: 31 }, (_, at) => addDays(`${month}-01`, at));
  return days.filter((day) => day.startsWith(month));
}

// Days have no time zone.
const format = (day: string, later: number, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat({ de: 'de-DE', en: 'en-GB' }[language.value], { timeZone: 'UTC', ...options }).format(
    new Date(addDays(day, later)),
  );

const monthName = (month: string): string => format(`${month}-01`, 0, { month: 'long', year: 'numeric' });
