interface Detail {
  path: string;
  message: string;
  /** The kind of fault, if the input is a file. */
  code?: string;
}

interface ErrorBody {
  code: string;
  message: string;
  details?: Detail[];
}

/** A refused or failed call. `status` is 0 if the service did not answer at all. */
export class PortalError extends Error {
  readonly status: number;
  /** An UPPER_SNAKE constant that never changes; `UNREACHABLE` if the service did not answer. */
  readonly code: string;
  /** The refused fields, by their path in the body. */
  readonly details: readonly Detail[];
  /** The id of the request in the log of the service; null if the service did not answer. */
  readonly requestId: string | null;
  /** Seconds to wait before the next attempt, if the service names them. */
  readonly retryAfterSec: number | null;

  constructor(
    { code, message, details = [] }: ErrorBody,
    {
      status = 0,
      requestId = null,
      retryAfterSec = null,
      cause,
    }: { status?: number; requestId?: string | null; retryAfterSec?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'PortalError';
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSec = retryAfterSec;
  }
}

/** The error of an answer that is no success. Answers of a proxy in between may have any body, so their status has to say it. */
export function errorOfAnswer(body: unknown, response: Response): PortalError {
  const { status, headers } = response;
  const answer = isErrorBody(body)
    ? body
    : { code: codesOfProxies[status] ?? 'INTERNAL', message: `The service answered with the status ${status}.` };
  const retryAfter = headers.get('retry-after');
  return new PortalError(answer, {
    status,
    requestId: headers.get('x-request-id'),
    retryAfterSec: retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null,
  });
}

const codesOfProxies: Record<number, string> = {
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { code, message } = body as Partial<ErrorBody>;
  return typeof code === 'string' && typeof message === 'string';
}
