import { unavailable } from './errors.ts';

// Disk, quota or the process's own file size limit is reached; or what is there may be read, but not changed; or the disk fails.
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM', 'EIO']);

/** Whether our own disk would not take something, by what Node says of a call to it. */
export const isUnwritable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && codes.has(error.code);

/** Throws what a call to our own disk failed with: 503 `UNAVAILABLE` where the disk would not take something. */
export function throwUnwritable(error: unknown): never {
  throw isUnwritable(error)
    ? unavailable('This file cannot be stored right now. Please try again later.', error, 60)
    : error;
}
