const tasks = new Set<() => Promise<unknown>>();

/** `task` runs when the person leaves the page or signs out. It must send with `keepalive`. The returned function takes it back. */
export function beforeLeaving(task: () => Promise<unknown>): () => void {
  tasks.add(task);
  return () => void tasks.delete(task);
}

/** Ends work that waits, such as a deletion that can still be undone. */
export const finishWaiting = (): Promise<unknown> => Promise.allSettled([...tasks].map((task) => task()));

addEventListener('pagehide', () => void finishWaiting());
