/** What was waited for did not come in time; it may still happen. */
export class TooLate extends Error {
  constructor(ms: number) {
    super(`There was no answer within ${ms} ms.`);
    this.name = 'TooLate';
  }
}

/** The work's outcome, or a TooLate when it takes longer than `ms`. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(ms)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
