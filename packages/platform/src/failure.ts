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

// Deep enough for every chain of ours, an end for one that bites its tail.
const maxCauses = 5;

/**
 * An error as the log shows it: type, message, stack, code and causes, and none of the values it carries. A failed
 * statement brings its parameters along, in the message too, and among them are password hashes and tokens.
 * Of a refusal made on purpose the last cause alone has its stack: the others would name the same calls again.
 */
export function describeFailure(error: unknown): Failure {
  return describe(error, 0, error instanceof PortalError);
}

function describe(error: unknown, depth: number, isOnPurpose: boolean): Failure {
  if (!(error instanceof Error)) {
    return {
      type: typeof error,
      message: typeof error === 'string' ? error : 'something that is no error',
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
