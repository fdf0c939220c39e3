import { ServerFailure } from '@portal/connectors/servers/server-failure';
import { type CallOptions, type ServerSession, shortAnswerBytes } from '@portal/connectors/servers/server-session';
import { believedForSec, type FollowUp, planFollowUps } from '@portal/domain/monitoring/follow-ups';
import type { Row } from '@portal/domain/monitoring/loose';
import { type Epoch, HOUR_SEC, type ListPart, type Part, type RowPart } from '@portal/domain/monitoring/parts';
import { shownLine } from '@portal/domain/text';
import { MINUTE, SECOND } from '@portal/domain/time';
import { fitParts, type PollState } from './poll-state.ts';

/** A look at a server as a whole, from the first call to the last. */
export const pollTimeoutMs = MINUTE;
/** The first call shows whether there is anybody; what does not answer it holds a place that others wait for. */
const firstMs = 8 * SECOND;
/** How old an answer may be that is asked for once a day: what is due comes before the same hour of the next day. */
export const daily = 20 * HOUR_SEC;
/** Rows kept of a part. */
const maxKept = 300;
/** Parts of which is kept since when they wait for their first turn. */
const maxWaiting = 500;

/** A question whose answer is kept for later runs. */
export interface KeptQuestion extends FollowUp {
  /** What it is about, for the list of what was not examined. */
  what: string;
  path: string;
  /** Whom it is asked of: a node or a datastore, where it is not the server itself. */
  of?: string;
  is: 'list' | 'row';
  /** The fields that rules read; everything else is not kept. */
  fields: readonly string[];
  /** Fields that `choose` reads beside those. */
  alsoRead?: readonly string[];
  /** Rows worth keeping, where not all are. */
  choose?: (rows: readonly Row[]) => readonly Row[];
}

type Asked = Pick<KeptQuestion, 'of'> & Pick<CallOptions, 'fields'>;

/** One run’s calls to a server, as parts: what fails is a part that says so, unless it shows that nothing else will do better. */
export interface ServerPoll {
  readonly now: Epoch;
  readonly session: ServerSession;
  /** Without these there is nothing to say of the server: their failure is the server’s. */
  first(path: string): Promise<Row>;
  mustList(path: string, options?: Pick<CallOptions, 'fields'>): Promise<readonly Row[]>;
  mustRow(path: string): Promise<Row>;
  list(path: string, from?: Asked): Promise<ListPart>;
  row(path: string, from?: Asked): Promise<RowPart>;
  /** Whether a node or a datastore left a question unanswered: each more would take as long, and there are others to ask. */
  isSilent(of: string): boolean;
  /**
   * Asks as many of these questions as a run may, writes the answers to what is kept, and forgets what nobody asks any more. A part
   * that was not read for more than a day is kept as one that could not be. Answers what was never read so far.
   */
  keepUp(
    state: Pick<PollState, 'parts' | 'waiting'>,
    questions: readonly KeptQuestion[],
    most?: number,
  ): Promise<{ what: string; why: string }[]>;
}

export function openServerPoll(
  session: ServerSession,
  { deadline, signal }: { deadline: AbortSignal; signal: AbortSignal },
): ServerPoll {
  const now = Math.floor(Date.now() / 1_000);
  const silent = new Set<string>();

  /** What a call that failed comes to; the end of the job, and what is no failure of the server, go on up. */
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

  async function part<T>(read: () => Promise<T>, { of }: Asked = {}): Promise<Part<T>> {
    try {
      return { readAt: now, data: await read() };
    } catch (error) {
      const failed = failureOf(error);
      // Nobody who was refused here is let in elsewhere.
      if (failed.failure === 'zugang') throw failed;
      if (of !== undefined && failed.isAway) silent.add(of);
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
  const only = ({ fields }: Asked = {}): CallOptions => (fields ? { fields } : {});
  const list: ServerPoll['list'] = (path, from) => part(() => session.list(path, only(from)), from);
  const row: ServerPoll['row'] = (path, from) => part(() => session.row(path, only(from)), from);

  return {
    now,
    session,
    first: (path) => must(() => session.row(path, { timeoutMs: firstMs, maxBytes: shortAnswerBytes })),
    mustList: (path, options) => must(() => session.list(path, options)),
    mustRow: (path) => must(() => session.row(path)),
    list,
    row,
    isSilent: (of) => silent.has(of),
    async keepUp(state, questions, most) {
      const { parts } = state;
      for (const question of planFollowUps(questions, { parts, now, ...(most !== undefined && { most }) })) {
        const { key, path, of, is, fields, alsoRead = [], choose = (rows: readonly Row[]) => rows } = question;
        if (of !== undefined && silent.has(of)) continue;
        const from = { ...(of !== undefined && { of }), fields: [...fields, ...alsoRead] };
        const read = is === 'list' ? await list(path, from) : await row(path, from);
        // That this look was out of time says nothing of the part: what was read before is believed for a while.
        if (deadline.aborted && 'failure' in read) break;
        parts[key] =
          'failure' in read
            ? read
            : {
                readAt: now,
                data: Array.isArray(read.data)
                  ? choose(read.data)
                      .slice(0, maxKept)
                      .map((one: Row) => picked(one, fields))
                  : picked(read.data as Row, fields),
              };
      }
      const wanted = new Set(questions.map(({ key }) => key));
      for (const [key, kept] of Object.entries(parts)) {
        if (!wanted.has(key)) delete parts[key];
        else if ('data' in kept && now - kept.readAt > believedForSec)
          parts[key] = { readAt: kept.readAt, failure: null, message: 'it was last read more than a day ago.' };
      }
      fitParts(parts);
      const unread = questions.filter(({ key }) => !Object.hasOwn(parts, key));
      state.waiting = Object.fromEntries(
        unread.slice(0, maxWaiting).map(({ key }) => [key, state.waiting[key] ?? now]),
      );
      for (const [key, since] of Object.entries(state.waiting))
        if (now - since > believedForSec)
          parts[key] = { readAt: since, failure: null, message: 'its turn has not come for more than a day.' };
      return unread.map(({ what }) => ({ what, why: 'its turn comes in a later run' }));
    },
  };
}

/** These fields of a row, in a form that may be stored. */
const picked = (row: Row, fields: readonly string[]): Row =>
  Object.fromEntries(fields.flatMap((field) => (row[field] === undefined ? [] : [[field, storable(row[field])]])));

/** A text, a number, or an object of those: no rule looks any deeper. */
function storable(value: unknown, isInner = false): unknown {
  if (typeof value === 'string') return shownLine(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || isInner) return null;
  const entries = Object.entries(value as Row).slice(0, 20);
  return Object.fromEntries(entries.map(([key, inner]) => [shownLine(key, 60), storable(inner, true)]));
}
