import { z } from 'zod';
import { invalidField } from '../errors.ts';
import { FailureClass } from '../failure-class.ts';
import { DAY, HOUR, Instant, MINUTE } from '../time.ts';
import { ServerState } from './servers.ts';

/** What is kept of each check, as far as the kind of server and its answers have it. */
export const Figure = z.enum(['cpu', 'memory', 'fullest', 'guests', 'waiting']);
export type Figure = z.output<typeof Figure>;

export type Figures = Partial<Record<Figure, number | null>>;

const unitOf: Record<Figure, 'percent' | 'count'> = {
  cpu: 'percent',
  memory: 'percent',
  fullest: 'percent',
  guests: 'count',
  waiting: 'count',
};

/** No count of a real server comes near, and it fits a column of 32 bits. */
const maxCount = 1_000_000_000;

/** The figures in stored form. A server may answer with any number: those out of range are cut to it, and what is none is missing. */
export function storedFigures(figures: Figures): Record<Figure, number | null> {
  const stored = (figure: Figure): number | null => {
    const value = figures[figure] ?? null;
    if (value === null || Number.isNaN(value)) return null;
    if (unitOf[figure] === 'percent') return Math.round(Math.min(Math.max(value, 0), 100) * 10) / 10;
    return Math.round(Math.min(Math.max(value, 0), maxCount));
  };
  return {
    cpu: stored('cpu'),
    memory: stored('memory'),
    fullest: stored('fullest'),
    guests: stored('guests'),
    waiting: stored('waiting'),
  };
}

/** How much of the processors is in use. Products write the use of one host as a fraction of all its processors. */
export function cpuPercent(hosts: readonly { used: number | null; processors: number | null }[]): number | null {
  let [busy, all] = [0, 0];
  for (const { used, processors } of hosts) {
    if (used === null || processors === null || processors <= 0) continue;
    busy += used * processors;
    all += processors;
  }
  return all === 0 ? null : (busy / all) * 100;
}

/** The largest of these; null without any. */
export const highestOf = (values: readonly (number | null)[]): number | null =>
  values.reduce((highest, value) => (value === null || (highest !== null && highest >= value) ? highest : value), null);

/** How long a history goes back. */
export const historyDays = 30;
const maxDays = 31;
const [firstYear, lastYear] = [2000, 2199];

/** Lengths of the steps of an answer. The longest window has 744 of the last one, and shorter ones have as many at most. */
const stepsMs = [5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR];
const maxSteps = (maxDays * DAY) / HOUR;

export const HistoryQuery = z.object({
  from: Instant.optional().describe('A day before `to` if missing'),
  to: Instant.optional().describe(`After \`from\`, by at most ${maxDays} days; now if missing`),
});
export type HistoryQuery = z.output<typeof HistoryQuery>;

export interface HistoryWindow {
  from: Date;
  to: Date;
  stepSec: number;
}

/** The window of a request and the length of its steps. It begins with a whole step. Throws 400 for one that is empty, too long or absurd. */
export function historyWindow({ from, to = new Date() }: HistoryQuery): HistoryWindow {
  const begin = from ?? new Date(to.getTime() - DAY);
  for (const [field, instant] of Object.entries({ from: begin, to }))
    if (instant.getTime() < Date.UTC(firstYear, 0) || instant.getTime() >= Date.UTC(lastYear + 1, 0))
      throw invalidField(field, `must lie in the years ${firstYear} to ${lastYear}`);
  const length = to.getTime() - begin.getTime();
  if (length <= 0) throw invalidField('to', 'must be later than from');
  if (length > maxDays * DAY) throw invalidField('to', `must be at most ${maxDays} days later than from`);
  const stepMs = stepsMs.find((one) => length / one <= maxSteps) ?? HOUR;
  return { from: new Date(Math.floor(begin.getTime() / stepMs) * stepMs), to, stepSec: stepMs / 1_000 };
}

const figureColumn = z.array(z.number().nullable());

export const ServerHistory = z
  .object({
    from: Instant.describe('Rounded down to a whole step'),
    to: Instant,
    stepSec: z.int().describe('Length of a step in seconds, 300 to 3600: the longer the window, the longer its steps'),
    points: z
      .array(
        z.object({
          at: Instant.describe('Start of the step'),
          state: ServerState.describe('Worst state within the step'),
          failure: FailureClass.nullable().describe('Failure of the check with that state'),
        }),
      )
      .describe('Oldest first, at most 745; a step without a check has none'),
    figures: z
      .array(
        z.object({
          key: Figure.describe(
            '`cpu`, `memory`: in use on all hosts of the server; `fullest`: how full the fullest storage, datastore or, on a mail gateway, root file system is; `guests`: running guests; `waiting`: mails in the queues',
          ),
          unit: z.enum(['percent', 'count']),
          average: figureColumn.describe('One entry for each point; null if no check of the step could read it'),
          highest: figureColumn,
        }),
      )
      .describe('Only those that were read within the window'),
  })
  .meta({
    id: 'ServerHistory',
    example: {
      from: '2026-11-20T08:25:00.000Z',
      to: '2026-11-20T08:35:00.000Z',
      stepSec: 300,
      points: [
        { at: '2026-11-20T08:25:00.000Z', state: 'ok', failure: null },
        { at: '2026-11-20T08:30:00.000Z', state: 'unknown', failure: 'netz' },
      ],
      figures: [
        { key: 'cpu', unit: 'percent', average: [12.5, null], highest: [12.5, null] },
        { key: 'fullest', unit: 'percent', average: [61.2, null], highest: [61.2, null] },
      ],
    },
  });
export type ServerHistory = z.output<typeof ServerHistory>;

type Step = ServerHistory['points'][number] & { average: Figures; highest: Figures };

/** The points and, beside them, the figures that any of them has. */
export function historyOf({ from, to, stepSec }: HistoryWindow, steps: readonly Step[]): ServerHistory {
  const columnOf = (which: 'average' | 'highest', key: Figure) => steps.map((step) => step[which][key] ?? null);
  return {
    from,
    to,
    stepSec,
    points: steps.map(({ at, state, failure }) => ({ at, state, failure })),
    figures: Figure.options
      .map((key) => ({
        key,
        unit: unitOf[key],
        average: columnOf('average', key),
        highest: columnOf('highest', key),
      }))
      .filter(({ average }) => average.some((value) => value !== null)),
  };
}
