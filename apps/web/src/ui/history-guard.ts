type Guard = (event: PopStateEvent) => void;

let guard: Guard | null = null;

/**
 * Begins to watch the steps of the browser's history. Browsers call the listeners of a window in the order in which they were added, so
 * this must be called before the router is drawn.
 */
export const watchHistory = (): void => addEventListener('popstate', (event) => guard?.(event));

/** Sees each step before the router does, and may stop it. Null lets all pass. */
export function guardHistory(wanted: Guard | null): void {
  guard = wanted;
}
