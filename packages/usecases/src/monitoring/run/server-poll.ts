import { ServerFailure } from '@portal/connectors/servers/server-failure';
import { type CallOptions, type ServerSession, shortAnswerBytes } from '@portal/connectors/servers/server-session';
import { validForSec, type FollowUp, planFollowUps } from '@portal/domain/monitoring/follow-ups';
import {
  type Epoch,
  HOUR_SEC,
  type ListAnswer,
  type Answer,
  type RowAnswer,
} from '@portal/domain/monitoring/poll-answers';
import type { Row } from '@portal/domain/monitoring/rows';
import { shownLine } from '@portal/domain/text';
import { MINUTE, SECOND } from '@portal/domain/time';
import { limitCachedAnswers, type PollState } from './poll-state.ts';

/** One poll of a server, from the first call to the last. */
export const pollTimeoutMs = MINUTE;
/** The first call shows whether the server answers at all. It fails early, because other servers wait for the slot. */
const firstMs = 8 * SECOND;
/** Maximum age of a daily answer. With less than a day, the question is due before the same hour of the next day. */
export const daily = 20 * HOUR_SEC;
/** Rows stored per answer. */
const maxStoredRows = 300;
/** Unanswered questions whose waiting time is stored. */
const maxWaiting = 500;

/** A question whose answer is stored for later runs. */
export interface FollowUpQuestion extends FollowUp {
  /** The subject, for the list of what was not examined. */
  what: string;
  path: string;
  /** The node or datastore that answers; the server itself if missing. */
  target?: string;
  shape: 'list' | 'row';
  /** The fields that rules read. Other fields are not stored. */
  fields: readonly string[];
  /** Fields that only `choose` reads. */
  alsoRead?: readonly string[];
  /** Selects the rows to store; all by default. */
  choose?: (rows: readonly Row[]) => readonly Row[];
}

type AskOptions = Pick<FollowUpQuestion, 'target'> & Pick<CallOptions, 'fields'>;

/** The calls of one run to a server. A failed call becomes a failed answer, unless it shows that no other call can succeed. */
export interface ServerPoll {
  readonly now: Epoch;
  readonly session: ServerSession;
  /** Calls a poll cannot do without. Their failure is the failure of the server. */
  first(path: string): Promise<Row>;
  mustList(path: string, options?: Pick<CallOptions, 'fields'>): Promise<readonly Row[]>;
  mustRow(path: string): Promise<Row>;
  list(path: string, options?: AskOptions): Promise<ListAnswer>;
  row(path: string, options?: AskOptions): Promise<RowAnswer>;
  /** Whether a node or a datastore did not answer. Another question to it would take as long, so the run asks others. */
  isSilent(target: string): boolean;
  /**
   * Asks as many of these questions as a run may, stores the answers, and deletes answers that no question asks for. An answer older
   * than a day becomes a failure. Returns the questions without an answer so far.
   */
  refreshAnswers(
    state: Pick<PollState, 'parts' | 'waiting'>,
    questions: readonly FollowUpQuestion[],
    limit?: number,
  ): Promise<{ what: string; why: string }[]>;
}

export function openServerPoll(
  session: ServerSession,
  { deadline, signal }: { deadline: AbortSignal; signal: AbortSignal },
): ServerPoll {
  const now = Math.floor(Date.now() / 1_000);
  const silent = new Set<string>();

  /** The failure behind an error of a call. Throws if the job ends, and for errors that are not the server’s fault. */
  function failureOf(error: unknown): ServerFailure {
    signal.throwIfAborted();
    if (error instanceof ServerFailure) return error;
    if (!deadline.aborted) throw error;
    return new ServerFailure(
      'netz',
      `${session.host} did not answer everything within ${pollTimeoutMs / SECOND} seconds.`,
      error,
    );
  }

  async function attempt<T>(read: () => Promise<T>, { target }: AskOptions = {}): Promise<Answer<T>> {
    try {
      return { readAt: now, data: await read() };
    } catch (error) {
      const failed = failureOf(error);
      // A refused sign-in fails for every other call as well.
      if (failed.failure === 'zugang') throw failed;
      if (target !== undefined && failed.isUnreachable) silent.add(target);
      return { readAt: now, failure: failed.failure, message: failed.message };
    }
  }
  const must = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      throw failureOf(error);
    }
  };
  const only = ({ fields }: AskOptions = {}): CallOptions => (fields ? { fields } : {});
  const list: ServerPoll['list'] = (path, options) => attempt(() => session.list(path, only(options)), options);
  const row: ServerPoll['row'] = (path, options) => attempt(() => session.row(path, only(options)), options);

  return {
    now,
    session,
    first: (path) => must(() => session.row(path, { timeoutMs: firstMs, maxBytes: shortAnswerBytes })),
    mustList: (path, options) => must(() => session.list(path, options)),
    mustRow: (path) => must(() => session.row(path)),
    list,
    row,
    isSilent: (target) => silent.has(target),
    async refreshAnswers(state, questions, limit) {
      const { parts } = state;
      for (const question of planFollowUps(questions, { parts, now, ...(limit !== undefined && { limit }) })) {
        const { key, path, target, shape, fields, alsoRead = [], choose = (rows: readonly Row[]) => rows } = question;
        if (target !== undefined && silent.has(target)) continue;
        const options = { ...(target !== undefined && { target }), fields: [...fields, ...alsoRead] };
        const answer = shape === 'list' ? await list(path, options) : await row(path, options);
        // If the poll itself ran out of time, the stored answer stays valid for a while.
        if (deadline.aborted && 'failure' in answer) break;
        parts[key] =
          'failure' in answer
            ? answer
            : {
                readAt: now,
                data: Array.isArray(answer.data)
                  ? choose(answer.data)
                      .slice(0, maxStoredRows)
                      .map((one: Row) => picked(one, fields))
                  : picked(answer.data as Row, fields),
              };
      }
      const wanted = new Set(questions.map(({ key }) => key));
      for (const [key, cached] of Object.entries(parts)) {
        if (!wanted.has(key)) delete parts[key];
        else if ('data' in cached && now - cached.readAt > validForSec)
          parts[key] = { readAt: cached.readAt, failure: null, message: 'it was last read more than a day ago.' };
      }
      limitCachedAnswers(parts);
      const unanswered = questions.filter(({ key }) => !Object.hasOwn(parts, key));
      state.waiting = Object.fromEntries(
        unanswered.slice(0, maxWaiting).map(({ key }) => [key, state.waiting[key] ?? now]),
      );
      for (const [key, since] of Object.entries(state.waiting))
        if (now - since > validForSec)
          parts[key] = { readAt: since, failure: null, message: 'its turn has not come for more than a day.' };
      return unanswered.map(({ what }) => ({ what, why: 'its turn comes in a later run' }));
    },
  };
}

/** These fields of a row, in a form that can be stored. */
const picked = (row: Row, fields: readonly string[]): Row =>
  Object.fromEntries(fields.flatMap((field) => (row[field] === undefined ? [] : [[field, storable(row[field])]])));

/** Keeps texts, numbers and flat objects: no rule reads deeper levels. */
function storable(value: unknown, isInner = false): unknown {
  if (typeof value === 'string') return shownLine(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || isInner) return null;
  const entries = Object.entries(value as Row).slice(0, 20);
  return Object.fromEntries(entries.map(([key, inner]) => [shownLine(key, 60), storable(inner, true)]));
}
