// The words of Node and PostgreSQL for a full disk or an exceeded disk quota
const diskFull = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Check free disk space/;
const diskFullHint = 'The disk is full. Free some space and try again.';

/** Explains an error in a few lines: the messages down the chain of causes, without stacks, and a hint for a full disk. */
export function explainFailure(error: unknown): string {
  const messages: string[] = [];
  // A chain of causes can be circular; ten links are enough.
  for (let link = error, depth = 0; link instanceof Error && depth < 10; link = link.cause, depth++) {
    // For a name with several addresses, a refused connection has one error for each address and no message of its own.
    const parts = link instanceof AggregateError && link.message === '' ? link.errors : [link];
    for (const part of parts) {
      const message = part instanceof Error ? part.message : String(part);
      if (message !== '' && !messages.includes(message)) messages.push(message);
    }
  }
  const text = messages.length > 0 ? messages.join('\n') : String(error);
  // The supervisor explains a failure that the preparation has already explained
  return diskFull.test(text) && !text.endsWith(diskFullHint) ? `${text}\n${diskFullHint}` : text;
}
