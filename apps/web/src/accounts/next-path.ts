// Browsers drop control characters and read a backslash as a slash, so `/\example.org` would lead to another host.
const ownPath = /^\/(?![/\\])[^\\\p{Cc}]*$/u;

/** The place in these pages that `?next=` names. Anything else leads to `otherwise`. */
export const nextPath = (next: string | undefined, otherwise = '/app'): string =>
  next !== undefined && ownPath.test(next) ? next : otherwise;
