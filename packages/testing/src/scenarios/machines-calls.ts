import type { Machine } from './machines-house.ts';

/** What happened between two steps of a run. */
export interface StepFigures {
  name: string;
  fromMs: number;
  toMs: number;
  calls: number;
  succeeded: number;
  /** 503 with `Retry-After`. */
  unavailable: number;
  /** 429 of a lock that callers reach on purpose. */
  busy: number;
  /** Connections that broke before the whole answer had arrived. */
  broken: number;
  /** Longest time in which no call of any caller succeeded. */
  longestGapMs: number;
  slowestMs: number;
  disturbance: Disturbance;
}

/** What a step may do to callers beyond 503. */
export interface Disturbance {
  /** It ends a process that is sending answers, so connections may break. */
  breaksConnections?: boolean;
  /** It ends what settles mails, so a mail that the mail server has just accepted may come again. */
  repeatsMails?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface Call {
  method?: string;
  cookie?: string;
  json?: object;
  form?: FormData;
  /** Successes, and refusals that the caller reaches on purpose. */
  expected: readonly number[];
}

export interface Calls {
  /** The answer, if it is an expected one. Everything else counts: 503 and broken connections for the step, the rest as a violation. */
  ask(path: string, call: Call): Promise<Answer | null>;
  begin(step: string, disturbance?: Disturbance): void;
  steps: StepFigures[];
  violations: Set<string>;
}

/** Calls the APIs at the shared address of the machines: whichever HAProxy accepts connections. Counts the answers of each step. */
export function countCalls(ports: Record<Machine, number>): Calls {
  const steps: StepFigures[] = [];
  const violations = new Set<string>();
  let holder: Machine = 'a';
  let lastSuccess = performance.now();

  function begin(name: string, disturbance: Disturbance = {}): void {
    const now = performance.now();
    const last = steps.at(-1);
    if (last) last.toMs = now;
    const counts = { calls: 0, succeeded: 0, unavailable: 0, busy: 0, broken: 0, longestGapMs: 0, slowestMs: 0 };
    steps.push({ name, fromMs: now, toMs: Infinity, ...counts, disturbance });
  }

  async function send(path: string, { method, cookie, json, form }: Call): Promise<Answer> {
    const init = {
      method: method ?? (json || form ? 'POST' : 'GET'),
      headers: { ...(cookie !== undefined && { cookie }), ...(json && { 'content-type': 'application/json' }) },
      ...(json && { body: JSON.stringify(json) }),
      ...(form && { body: form }),
      signal: AbortSignal.timeout(60_000),
    };
    const dial = () => fetch(`http://127.0.0.1:${ports[holder]}${path}`, init);
    const answer = await dial().catch((error: unknown) => {
      if (!isRefused(error)) throw error;
      // Nobody listens, so nothing was sent: the other machine takes the address over.
      holder = holder === 'a' ? 'b' : 'a';
      return dial();
    });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  }

  async function ask(path: string, call: Call): Promise<Answer | null> {
    const startedAt = performance.now();
    const answer = await send(path, call).catch((error: unknown) => error as Error);
    const now = performance.now();
    const step = steps.at(-1);
    if (!step) throw new Error('no step has begun');
    step.calls += 1;
    step.slowestMs = Math.max(step.slowestMs, now - startedAt);
    const what = `${step.name}: ${call.method ?? ''} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`;
    if (answer instanceof Error) {
      step.broken += 1;
      if (!step.disturbance.breaksConnections) violations.add(`${what} broke: ${causeOf(answer)}`);
      return null;
    }
    if (call.expected.includes(answer.status)) {
      if (answer.status >= 400) step.busy += 1;
      else {
        step.succeeded += 1;
        step.longestGapMs = Math.max(step.longestGapMs, now - Math.max(lastSuccess, steps[0]?.fromMs ?? 0));
        lastSuccess = now;
      }
      return answer;
    }
    if (answer.status === 503) {
      step.unavailable += 1;
      if (!/^\d+$/.test(answer.headers.get('retry-after') ?? '')) violations.add(`${what}: 503 without Retry-After`);
    } else violations.add(`${what}: ${answer.status} ${answer.body.toString().slice(0, 200)}`);
    return null;
  }

  return { ask, begin, steps, violations };
}

const causeOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
