import type { CloudInstance } from '@portal/client/interface';
import { formatDate } from '../language.ts';
import s from './cloud-status.module.css';
import { daysUntil, endingDays, placeOf } from './support-end.ts';
import { texts } from './texts.ts';

type Supported = Pick<CloudInstance, 'supportEndsAt'>;

/** The end of support in words and on a line whose scale is the same for all clouds. */
export function SupportLine({ cloud: { supportEndsAt } }: { cloud: Supported }) {
  if (supportEndsAt === null) return <p class={s.muted}>{texts.value.supportUnknown}</p>;
  const days = daysUntil(supportEndsAt, Date.now());
  return (
    <div>
      <p>{wordsFor(supportEndsAt, days)}</p>
      <Line days={days} />
    </div>
  );
}

const height = 16;
const middle = height / 2;

/** Past, the next 60 days and later, with today and the end of support. The words beside it say the same. */
function Line({ days }: { days: number }) {
  const [today, ending, end] = [placeOf(0), placeOf(endingDays), placeOf(days)];
  const part = (from: number, to: number, color: string) => (
    <rect x={`${from}%`} width={`${to - from}%`} y={5} height={6} style={{ fill: `var(--${color}-bg)` }} />
  );
  const mark = (at: number) => (
    <line x1={`${at}%`} x2={`${at}%`} y1={1} y2={height - 1} style={{ stroke: 'var(--text-muted)' }} />
  );
  const color = days < 0 ? 'error' : days <= endingDays ? 'warning' : 'ok';
  return (
    <svg class={s.line} height={height} aria-hidden>
      {part(0, today, 'error')}
      {part(today, ending, 'warning')}
      {part(ending, 100, 'ok')}
      {mark(today)}
      {mark(ending)}
      <circle cx={`${end}%`} cy={middle} r={5} style={{ fill: `var(--${color})` }} />
    </svg>
  );
}

/** What the marks of the line mean. */
export function SupportLegend() {
  const t = texts.value;
  const label = (at: number, text: string) => (
    <text x={`${at}%`} y={12} text-anchor="middle" style={{ fill: 'currentColor', fontSize: '12px' }}>
      {text}
    </text>
  );
  return (
    <div class={s.muted}>
      <svg class={s.line} height={height} aria-hidden>
        {label(placeOf(0) - 4, t.today)}
        {label(placeOf(endingDays) + 8, t.in60Days)}
      </svg>
      <p>{t.lineLegend}</p>
    </div>
  );
}

function wordsFor(at: string, days: number): string {
  const t = texts.value;
  const date = formatDate(at);
  if (days === 0) return t.supportEndsToday(date);
  return days > 0 ? t.supportEnds(date, days) : t.supportEnded(date, -days);
}
