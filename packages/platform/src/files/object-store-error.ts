import { unavailable } from '@portal/domain/errors';

/** Why an object store did not do what it was asked. */
export type ObjectStoreFault =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'failing'
  | 'refused'
  | 'no_bucket'
  | 'wrong_clock'
  | 'elsewhere'
  | 'unsupported'
  | 'malformed';

const sentences: Record<ObjectStoreFault, string> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  overloaded: 'asks for fewer calls',
  failing: 'failed',
  refused: 'refuses the keys, or their rights do not suffice',
  no_bucket: 'has no such bucket',
  wrong_clock: 'refuses the call because the clocks of this machine and of the store differ',
  elsewhere: 'keeps this bucket in another region or at another endpoint',
  unsupported: 'does not know this call',
  malformed: 'sent an answer that cannot be read',
};

// These end only when a person has changed something.
const settled: ReadonlySet<ObjectStoreFault> = new Set(['refused', 'no_bucket', 'wrong_clock', 'elsewhere']);

/** For the log: names the operation, the host and the store's own code, but no key of an account. */
export class ObjectStoreError extends Error {
  readonly fault: ObjectStoreFault;
  /** The store's code, such as `AccessDenied`, or the status. */
  readonly code: string;

  constructor(fault: ObjectStoreFault, operation: string, host: string, code = '', cause?: unknown) {
    const detail = code === '' ? '' : ` (${code})`;
    super(`${operation}: the object store ${host} ${sentences[fault]}${detail}`, cause === undefined ? {} : { cause });
    this.name = 'ObjectStoreError';
    this.fault = fault;
    this.code = code;
  }
}

/** What a caller gets: 503 for every fault of the store. */
export const storeUnavailable = (error: ObjectStoreError) =>
  unavailable(
    'Files cannot be read or stored right now. Please try again later.',
    error,
    settled.has(error.fault) ? 60 : 5,
  );
