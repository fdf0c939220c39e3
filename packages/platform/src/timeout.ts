/** The awaited work took too long; it may still finish. */
export class TimeoutError extends Error {
  constructor(ms: number) {
    super(`There was no answer within ${ms} ms.`);
    this.name = 'TimeoutError';
  }
}

/** Returns the result of `work`; throws a TimeoutError after `ms`. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(ms)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
