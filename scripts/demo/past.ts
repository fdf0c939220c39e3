import type { Figures } from '@portal/domain/monitoring/history';
import type { ServerState } from '@portal/domain/monitoring/servers';
import { berlin, DAY, HOUR, MINUTE } from '@portal/domain/time';
import type { PastCheck } from '@portal/usecases/monitoring/history';

/** How a server usually is, and what happened to it. */
export interface ServerPast {
  /** In the night; working hours take more. */
  usual: Figures;
  /** How much fuller its fullest store gets in a day. */
  fillsPerDay?: number;
  incidents: Incident[];
}

interface Incident {
  /** Days from its begin until now. */
  daysAgo: number;
  hours: number;
  state: ServerState;
  /** With a failure there are no figures. */
  failure?: PastCheck['failure'];
  figures?: Figures;
}

const limits = {
  fullest: { warning: 80, critical: 90 },
  waiting: { warning: 100, critical: 500 },
};

/** The distance of checks by their age: each step of the longest window that ends now has one. */
const distances: [untilAgeMs: number, apartMs: number][] = [
  [62 * HOUR, 5 * MINUTE],
  [124 * HOUR, 10 * MINUTE],
  [186 * HOUR, 15 * MINUTE],
  [248 * HOUR, 20 * MINUTE],
  [372 * HOUR, 30 * MINUTE],
  [30 * DAY - HOUR, HOUR],
];

/** The checks of a server in the 30 days before `now`. */
export function pastChecks(id: string, past: ServerPast, now: number): PastCheck[] {
  const checks: PastCheck[] = [];
  let youngerMs = 10 * MINUTE;
  for (const [untilAgeMs, apartMs] of distances) {
    const last = Math.floor((now - youngerMs) / apartMs) * apartMs;
    for (let at = last; at > now - untilAgeMs; at -= apartMs) checks.push(checkAt(id, past, at, now));
    youngerMs = now - (checks.at(-1)?.at?.getTime() ?? now) + apartMs;
  }
  return checks;
}

function checkAt(id: string, { usual, fillsPerDay = 0, incidents }: ServerPast, at: number, now: number): PastCheck {
  const ageMs = now - at;
  const incident = incidents.find(
    ({ daysAgo, hours }) => ageMs <= daysAgo * DAY && ageMs > daysAgo * DAY - hours * HOUR,
  );
  if (incident?.failure) return { id, at: new Date(at), state: incident.state, failure: incident.failure, figures: {} };
  const load = workload(at);
  const figures: Figures = { ...usual };
  if (usual.cpu) figures.cpu = usual.cpu * (1 + 1.6 * load) + 3 * noise(at);
  if (usual.memory) figures.memory = usual.memory + 5 * load + noise(at + 1);
  if (usual.fullest) figures.fullest = usual.fullest - (fillsPerDay * ageMs) / DAY + 0.4 * noise(at + 2);
  if (usual.waiting) figures.waiting = usual.waiting * (0.4 + load) + 6 * Math.abs(noise(at + 3));
  Object.assign(figures, incident?.figures);
  return { id, at: new Date(at), state: incident?.state ?? stateOf(figures), failure: null, figures };
}

function stateOf(figures: Figures): ServerState {
  const isAbove = (limit: 'warning' | 'critical') =>
    (figures.fullest ?? 0) >= limits.fullest[limit] || (figures.waiting ?? 0) >= limits.waiting[limit];
  return isAbove('critical') ? 'critical' : isAbove('warning') ? 'warning' : 'ok';
}

/** From 0 in the night to 1 on a working day at noon. */
function workload(at: number): number {
  const { hour, minute, dayOfWeek } = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(berlin);
  const ofDay = Math.max(0, Math.sin((Math.PI * (hour + minute / 60 - 6)) / 13));
  return ofDay * (dayOfWeek > 5 ? 0.25 : 1);
}

/** From -1 to 1, the same for the same number. */
function noise(seed: number): number {
  const wave = Math.sin((seed / MINUTE) * 12.9898) * 43_758.5453;
  return 2 * (wave - Math.floor(wave)) - 1;
}
