import { unavailable } from './errors.ts';

// The disk, quota or file size limit of the process is reached, the target is read-only, or the disk fails.
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM', 'EIO']);

/** Whether Node's error means that our own disk refused a write. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && codes.has(error.code);

/** Rethrows an error of our own disk; a refused write becomes 503 `UNAVAILABLE`. */
export function throwUnwritable(error: unknown): never {
  throw isUnwritable(error)
    ? unavailable('This file cannot be stored right now. Please try again later.', error, 60)
    : error;
}
