import type { CodeOf } from '@portal/domain/error-codes';
import { conflict, invalid, type PortalError, unavailable } from '@portal/domain/errors';

// The SQLSTATE classes the product tells apart (PostgreSQL, Appendix A), the first that fits.
const kinds = {
  /** Input that no schema caught but the database would not take: characters, forms and ranges of values. */
  refusedInput: /^22/,
  /** A row the database cannot hold, whoever sends it: refused input, or more than fits. */
  refusedRow: /^(22|54)/,
  /** Duplicate, reference to or from a row that changed at the same moment, deadlock and serialization failures. */
  raced: /^(23505|23503|40P01|40001)$/,
  /** No connection: failed, not accepted for want of a slot, or ended by a server that stops, crashed or starts. */
  unreachable: /^(08...|57P0[1-3]|53300)$/,
  /** What ends a connection, whatever was under way on it. */
  lost: /^(08...|57P..)$/,
  /** Nothing can be written: read-only, or its disk is full or fails. */
  unwritable: /^(25006|53100|58030)$/,
  /** A statement or its wait for a lock took too long, or the server is out of resources. */
  overloaded: /^(57014|55P03|53...|57P0.)$/,
  /** A statement took longer than it was given. */
  timedOut: /^57014$/,
  /** No such login, or another password. */
  signInRefused: /^28/,
  rightMissing: /^42501$/,
  tableMissing: /^42P01$/,
  /** Another migration on the same server made or changed a role in this very moment: roles are shared, the lock is not. */
  roleRaced: /^(42710|23505|XX000)$/,
};

const socketFailures = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const driverFailures = /connection terminated|not queryable|connection error|query read timeout/i;

/** SQLSTATE of a failed statement, `23505` for a duplicate; null when the database did not answer with one. */
export const sqlState = (error: unknown): string | null => serverError(error)?.code ?? null;

/** Whether a statement failed because the database said so, and not for want of an answer. */
export const isDatabaseRefusal = (error: unknown): boolean => sqlState(error) !== null;

const isA = (kind: keyof typeof kinds) => (error: unknown) => kinds[kind].test(sqlState(error) ?? '');
export const isSignInRefused = isA('signInRefused');
export const isRightMissing = isA('rightMissing');
export const isRoleRaced = isA('roleRaced');
export const isRefusedRow = isA('refusedRow');
export const isTimedOut = isA('timedOut');
/** Whether the database has not been migrated. */
export const isTableMissing = isA('tableMissing');

/** Name of the index or constraint a statement ran against. */
export const violatedConstraint = (error: unknown): string | null => serverError(error)?.constraint ?? null;

type ConflictCode = CodeOf<'conflict'>;

/** For `.catch`: throws the conflict that stands for a unique index, with a sentence of its own if it has one; any other error as it is. */
export const conflictOn =
  (conflicts: Record<string, ConflictCode | readonly [code: ConflictCode, message: string]>) =>
  (error: unknown): never => {
    const taken = conflicts[violatedConstraint(error) ?? ''];
    if (taken === undefined) throw error;
    const [code, message] = typeof taken === 'string' ? [taken] : taken;
    throw conflict(code, message, { cause: error });
  };

/** What a caller hears of a statement that the database refused; null where that is nobody's business but ours. */
export function refusalByDatabase(error: unknown): PortalError | null {
  const state = sqlState(error);
  if (state === null) return null;
  if (kinds.refusedInput.test(state)) return invalid('VALIDATION_FAILED', 'The request is malformed.');
  if (kinds.raced.test(state)) return conflict('CONFLICT');
  if (kinds.unwritable.test(state))
    return unavailable('Nothing can be saved right now. Please try again later.', error, 60);
  if (kinds.unreachable.test(state) || kinds.overloaded.test(state))
    return unavailable('The database is too busy right now. Please try again in a few seconds.');
  return null;
}

/** Whether an error says that the server is away, and not that it refused something. */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return kinds.unreachable.test(state);
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && socketFailures.has(String(current.code))) return true;
    if (driverFailures.test(current.message)) return true;
  }
  return false;
}

/** Whether a transaction that failed has certainly changed nothing. One whose server went away meanwhile may have been committed. */
export function isUndone(error: unknown): boolean {
  // Not by its severity, which the server says in its own language.
  const state = sqlState(error);
  return state === null ? !isUnreachable(error) : !kinds.lost.test(state);
}

interface ServerError extends Error {
  code: string;
  constraint?: string;
}

function serverError(error: unknown): ServerError | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    // `severity` is what only an answer of the database server has: EPIPE looks like a SQLSTATE, too.
    if ('severity' in current && 'code' in current && typeof current.code === 'string') return current as ServerError;
  }
  return null;
}
