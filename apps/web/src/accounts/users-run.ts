import { PortalError } from '@portal/client/portal-error';

export type Outcome<Result> = { result: Result } | { error: unknown };

interface RunOptions<Item, Result> {
  work: (item: Item) => Promise<Result>;
  onOutcome: (item: Item, outcome: Outcome<Result>) => void;
  /** Ends the run after the calls under way. */
  signal: AbortSignal;
}

const atOnce = 4;

/**
 * Works on all items, four at a time. Ends early when the service is away, no longer knows the caller or asks to slow down, because every
 * further call would fail, too. Items that were not begun have no outcome.
 */
export async function runEach<Item, Result>(
  items: readonly Item[],
  { work, onOutcome, signal }: RunOptions<Item, Result>,
): Promise<void> {
  let next = 0;
  let isHopeless = false;
  const runNext = async (): Promise<void> => {
    while (next < items.length && !isHopeless && !signal.aborted) {
      const item = items[next] as Item;
      next += 1;
      try {
        const result = await work(item);
        onOutcome(item, { result });
      } catch (error) {
        isHopeless ||= endsAll(error);
        onOutcome(item, { error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, runNext));
}

const endsAll = (error: unknown): boolean =>
  error instanceof PortalError &&
  ([0, 401, 429, 503].includes(error.status) || error.code === 'PASSWORD_CHANGE_REQUIRED');
