import facts from '../accounts/facts.module.css';
import { findingWords } from '../dashboards/widgets/findings-texts.ts';
import tile from '../dashboards/widgets/tile.module.css';
import { formatDate, formatNumber } from '../language.ts';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { usageLimits } from './limits.ts';
import type { Usage } from './rule-areas.ts';
import { StateMark } from './server-words.tsx';
import { texts } from './texts.ts';

interface UsageBarsProps {
  usages: readonly Usage[];
  /** When the values were read; null if never. */
  readAt: string | null;
}

const colors = { critical: '--error', warning: '--warning', unknown: '--text-muted', ok: '--ok' };

/** How full each storage is, against its thresholds, and when it will be full. */
export const UsageBars = ({ usages, readAt }: UsageBarsProps) => (
  <ul class={facts.facts}>
    {usages.map((usage) => (
      <li key={usage.rule.key}>
        <UsageBar usage={usage} readAt={readAt} />
      </li>
    ))}
  </ul>
);

function UsageBar({ usage, readAt }: { usage: Usage; readAt: string | null }) {
  const t = texts.value;
  const { rule, percent, subject, fullInDays, hasForecast } = usage;
  const { warning, critical } = usageLimits[subject];
  const limits = t.limitsAt(formatNumber(warning), critical === undefined ? null : formatNumber(critical));
  return (
    <>
      <div dir="auto">{findingWords(rule)}</div>
      <svg width="100%" height="12" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden>
        <title>{limits}</title>
        <rect width="100" height="12" fill="var(--surface-2)" />
        <rect width={Math.min(percent, 100)} height="12" fill={`var(${colors[rule.state]})`} />
        {fullInDays !== null && <Line from={percent} to={100} />}
        {[warning, critical].map((limit) => limit !== undefined && <Mark key={limit} at={limit} />)}
      </svg>
      <VisuallyHidden>{limits}</VisuallyHidden>
      {rule.state !== 'ok' && <StateMark state={rule.state} />}
      {hasForecast && (
        <div class={fullInDays === null ? tile.muted : undefined}>
          {fullInDays === null ? t.noForecast : forecastWords(fullInDays, readAt)}
        </div>
      )}
    </>
  );
}

/** What fills up until then, as a line of dashes. */
const Line = ({ from, to }: { from: number; to: number }) => (
  <line
    x1={from}
    x2={to}
    y1="6"
    y2="6"
    stroke="var(--text)"
    stroke-width="2"
    stroke-dasharray="3 3"
    vector-effect="non-scaling-stroke"
  />
);

const Mark = ({ at }: { at: number }) => (
  <line x1={at} x2={at} y1="0" y2="12" stroke="var(--text)" vector-effect="non-scaling-stroke" />
);

const dayMs = 86_400_000;

/** “voll in etwa 12 Tagen (8. Dez. 2026)”. The days count from the time of the reading. */
function forecastWords(days: number, readAt: string | null): string {
  const words = texts.value.fullIn(days);
  return readAt === null ? words : `${words} (${formatDate(Date.parse(readAt) + days * dayMs)})`;
}
