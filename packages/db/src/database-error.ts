import type { CodeOf } from '@portal/domain/error-codes';
import { conflict, invalid, type PortalError, unavailable } from '@portal/domain/errors';

// The SQLSTATE classes the product distinguishes (PostgreSQL, Appendix A); the first match counts.
const kinds = {
  /** Input that passed our schemas but that the database rejects: characters, formats and ranges of values. */
  refusedInput: /^22/,
  /** A row the database can never store: rejected input, or more than fits. */
  refusedRow: /^(22|54)/,
  /** Duplicate, reference to or from a row that changed concurrently, deadlock and serialization failures. */
  raced: /^(23505|23503|40P01|40001)$/,
  /** No connection: it failed, no slot was free, or the server is stopping, crashed or starting. */
  unreachable: /^(08...|57P0[1-3]|53300)$/,
  /** Errors that end the connection. */
  lost: /^(08...|57P..)$/,
  /** The database cannot write: it is read-only, or its disk is full or failing. */
  unwritable: /^(25006|53100|58030)$/,
  /** A write on a connection that may only read. */
  readOnly: /^25006$/,
  /** A statement or its wait for a lock took too long, or the server ran out of resources. */
  overloaded: /^(57014|55P03|53...|57P0.)$/,
  /** A statement exceeded its timeout. */
  timedOut: /^57014$/,
  /** Unknown login or wrong password. */
  signInRefused: /^28/,
  rightMissing: /^42501$/,
  tableMissing: /^42P01$/,
  /** The list of migrations, or the right to read it, which a migration grants. */
  migrationMissing: /^(3F000|42501|42P01)$/,
  /** A migration of another database created or changed a role at the same time: databases share roles but not our lock. */
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

/** SQLSTATE of a failed statement, such as `23505` for a duplicate; null if the database sent none. */
export const sqlState = (error: unknown): string | null => serverError(error)?.code ?? null;

/** Whether the database itself rejected the statement, as opposed to sending no answer. */
export const isDatabaseRefusal = (error: unknown): boolean => sqlState(error) !== null;

const isA = (kind: keyof typeof kinds) => (error: unknown) => kinds[kind].test(sqlState(error) ?? '');
export const isSignInRefused = isA('signInRefused');
export const isRightMissing = isA('rightMissing');
export const isRoleRaced = isA('roleRaced');
export const isRefusedRow = isA('refusedRow');
export const isTimedOut = isA('timedOut');
export const isReadOnly = isA('readOnly');
export const isMigrationMissing = isA('migrationMissing');
/** Whether the database has not been migrated yet. */
export const isTableMissing = isA('tableMissing');

/** Name of the index or constraint that a statement violated. */
export const violatedConstraint = (error: unknown): string | null => serverError(error)?.constraint ?? null;

type ConflictCode = CodeOf<'conflict'>;

/** For `.catch`: throws the conflict for a violated unique index, with its own message if it has one; rethrows every other error. */
export const conflictOn =
  (conflicts: Record<string, ConflictCode | readonly [code: ConflictCode, message: string]>) =>
  (error: unknown): never => {
    const taken = conflicts[violatedConstraint(error) ?? ''];
    if (taken === undefined) throw error;
    const [code, message] = typeof taken === 'string' ? [taken] : taken;
    throw conflict(code, message, { cause: error });
  };

/** The error that a caller gets for a statement the database refused; null if callers must not see the reason. */
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

/** The server answers, but the apps cannot work with it; the message says why. */
export class UnusableServerError extends Error {
  override name = 'UnusableServerError';
}

/** Whether an error means that the server cannot be reached or used, as opposed to a refusal. */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return kinds.unreachable.test(state);
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof UnusableServerError) return true;
    if ('code' in current && socketFailures.has(String(current.code))) return true;
    if (driverFailures.test(current.message)) return true;
  }
  return false;
}

/** Whether a failed transaction certainly changed nothing. If the connection was lost, it may have been committed. */
export function isUndone(error: unknown): boolean {
  // Severity is no criterion: the server translates it.
  const state = sqlState(error);
  return state === null ? !isUnreachable(error) : !kinds.lost.test(state);
}

interface ServerError extends Error {
  code: string;
  constraint?: string;
}

function serverError(error: unknown): ServerError | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    // Only answers of the database server have a `severity`; EPIPE also looks like a SQLSTATE.
    if ('severity' in current && 'code' in current && typeof current.code === 'string') return current as ServerError;
  }
  return null;
}
