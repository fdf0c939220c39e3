import { PortalError } from '@portal/domain/errors';

interface Failure {
  type: string;
  message: string;
  stack: string | undefined;
  /** SQLSTATE, errno name or an error code of our own. */
  code?: string;
  constraint?: string;
  cause?: Failure;
}

// Deep enough for all our chains of causes; ends circular ones.
const maxCauses = 5;

/**
 * Describes an error for the log: type, message, stack, code and causes, but none of its values. A failed statement carries its
 * parameters, also in the message, and these include password hashes and tokens.
 * For a deliberate refusal (PortalError) only the last cause has its stack: the other stacks would repeat the same calls.
 */
export function describeFailure(error: unknown): Failure {
  return describe(error, 0, error instanceof PortalError);
}

function describe(error: unknown, depth: number, isOnPurpose: boolean): Failure {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      message: typeof error === 'string' ? error : 'a thrown value that is not an error',
      stack: undefined,
    };
  }
  const { code, constraint, query } = error as { code?: unknown; constraint?: unknown; query?: unknown };
  const message = typeof query === 'string' ? `Failed query: ${query}` : error.message;
  return {
    type: error.constructor.name,
    message,
    stack:
      isOnPurpose && error.cause !== undefined ? undefined : error.stack?.slice(error.stack.indexOf('\n    at ') + 1),
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause !== undefined && depth < maxCauses && { cause: describe(error.cause, depth + 1, isOnPurpose) }),
  };
}
