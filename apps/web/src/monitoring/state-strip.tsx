import { serverStatus } from '../dashboards/widgets/server-states.ts';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import { formatDateTime, formatNumber } from '../language.ts';
import formStyle from '../ui/form.module.css';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { type Section, sharesOf } from './history-sections.ts';
import { listOrder } from './server-filter.ts';
import { stateWord } from './server-words.tsx';
import { texts } from './texts.ts';

/** Told apart by height and by colour. */
const bars = {
  critical: { height: 24, color: '--error' },
  warning: { height: 18, color: '--warning' },
  unknown: { height: 12, color: '--text-muted' },
  ok: { height: 6, color: '--ok' },
};

const order = listOrder.filter((state) => state !== 'off');

/** The states over time as a row of bars, how much of the time each took, and each section in words. */
export function StateStrip({ sections }: { sections: readonly Section[] }) {
  const t = texts.value;
  const [first, last] = [sections[0], sections.at(-1)];
  if (!first || !last) return null;
  const [startMs, allMs] = [first.fromMs, last.toMs - first.fromMs];
  const shares = sharesOf(sections);
  const percentOf = (state: Section['state']) => formatNumber(shares.get(state) ?? 0);
  const words = [
    ...order.filter((state) => shares.has(state)).map((state) => t.share(stateWord(state), percentOf(state))),
    ...(shares.has(null) ? [t.share(t.noData, percentOf(null))] : []),
  ];
  return (
    <>
      <svg
        role="img"
        aria-label={`${t.strip}: ${words.join(', ')}`}
        width="100%"
        height="24"
        viewBox="0 0 1000 24"
        preserveAspectRatio="none"
      >
        <line x2="1000" y1="23.5" y2="23.5" stroke="var(--border)" />
        {sections.map(({ state, fromMs, toMs }) => {
          if (state === null) return null;
          const { height, color } = bars[state];
          // Short outages stay visible.
          const width = Math.max((1_000 * (toMs - fromMs)) / allMs, 1.5);
          return (
            <rect
              key={fromMs}
              x={(1_000 * (fromMs - startMs)) / allMs}
              y={24 - height}
              width={width}
              height={height}
              fill={`var(${color})`}
            >
              <title>{`${stateWord(state)}: ${formatDateTime(fromMs)} – ${formatDateTime(toMs)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div style={{ display: 'flex', justifyContent: 'space-between' }}>
        <Time value={startMs} />
        <Time value={last.toMs} />
      </div>
      <div class={formStyle.actions}>
        {order
          .filter((state) => shares.has(state))
          .map((state) => (
            <Status key={state} kind={serverStatus[state]}>
              {t.share(stateWord(state), percentOf(state))}
            </Status>
          ))}
        {shares.has(null) && <span>{t.share(t.noData, percentOf(null))}</span>}
      </div>
      <details>
        <summary>{t.stripTable}</summary>
        <Table
          caption={t.strip}
          columns={columns()}
          rows={sections.toReversed()}
          rowKey={({ fromMs }) => String(fromMs)}
          empty={null}
        />
      </details>
    </>
  );
}

function columns(): Column<Section>[] {
  const t = texts.value;
  return [
    { key: 'from', label: t.from, cell: ({ fromMs }) => <Time value={fromMs} /> },
    { key: 'to', label: t.to, cell: ({ toMs }) => <Time value={toMs} /> },
    { key: 'state', label: t.state, cell: (section) => <SectionWords section={section} /> },
  ];
}

function SectionWords({ section: { state, failure } }: { section: Section }) {
  if (state === null) return <>{texts.value.noData}</>;
  return (
    <Status kind={serverStatus[state]}>
      {stateWord(state)}
      {failure !== null && `: ${statusTexts.value.failures[failure]}`}
    </Status>
  );
}
