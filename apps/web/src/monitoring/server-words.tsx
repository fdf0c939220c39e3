import { sentenceOf } from '../dashboards/widgets/findings-texts.ts';
import { serverStatus } from '../dashboards/widgets/server-states.ts';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import { formatBytes, formatNumber, language } from '../language.ts';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import type { ListedServer, ListState } from './server-filter.ts';
import type { Fact } from './servers.ts';
import { texts } from './texts.ts';

export const stateWord = (state: ListState): string =>
  state === 'off' ? texts.value.off : statusTexts.value.serverStates[state];

/** The state of a server as word, shape and colour. */
export const StateMark = ({ state }: { state: ListState }) => (
  <Status kind={state === 'off' ? 'info' : serverStatus[state]}>{stateWord(state)}</Status>
);

export function factValue({ value, unit }: Pick<Fact, 'value' | 'unit'>): string {
  if (typeof value === 'string') return value;
  if (unit === 'bytes') return formatBytes(value);
  return unit === 'percent' ? `${formatNumber(value)} %` : formatNumber(value);
}

export const factLabel = ({ key, label }: Fact): string =>
  (texts.value.facts as Readonly<Record<string, string>>)[key] ?? label;

/** One line about a server: why it is not well, or its figures. */
export function Headline({ server }: { server: ListedServer }) {
  const t = texts.value;
  const { shown, failure, headline, facts, full, checkedAt } = server;
  if (failure !== null) {
    // A server that was not reached keeps the facts of its last good answer, with their time.
    const lastGood = full?.status.lastOkAt ?? facts[0]?.readAt;
    return (
      <>
        {statusTexts.value.failures[failure]}{' '}
        {lastGood ? (
          <>
            {t.lastGood} <Time value={lastGood} />
          </>
        ) : (
          t.neverGood
        )}
      </>
    );
  }
  if (shown === 'off') return <>{t.off}</>;
  if (checkedAt === null) return <>{t.never}</>;
  // The sentences of the service are English; the findings behind them come with the full list.
  const [worst, ...others] = full?.status.rules.filter(({ state }) => state === shown && state !== 'ok') ?? [];
  if (language.value === 'de' && worst) {
    return (
      <>
        {[sentenceOf(worst).text.replace(/\.$/, ''), others.length > 0 && t.more(others.length)]
          .filter(Boolean)
          .join(' ')}
      </>
    );
  }
  if (language.value === 'de' && shown === 'ok' && facts.length > 0) return <>{figureLine(facts)}</>;
  return <span lang="en">{headline}</span>;
}

/** Figures that say little without the whole. */
const wholes: Readonly<Record<string, string>> = { nodes: 'nodesTotal', guestsRunning: 'guests' };

/** “Knoten 3/3 · Gäste 5/6 · RAM 40 %” */
function figureLine(facts: readonly Fact[]): string {
  const labels: Readonly<Record<string, string>> = statusTexts.value.figures;
  const byKey = new Map(facts.map((fact) => [fact.key, fact]));
  return facts
    .flatMap((fact) => {
      const whole = byKey.get(wholes[fact.key] ?? '');
      const label = labels[fact.key];
      return label === undefined ? [] : [`${label} ${factValue(fact)}${whole ? `/${factValue(whole)}` : ''}`];
    })
    .slice(0, 4)
    .join(' · ');
}
