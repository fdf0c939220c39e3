// As Node and PostgreSQL say it, the quota of an account included
const noRoom = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|Check free disk space/;
const makeRoom = 'The disk is full. Make room on it and try again.';

/** What went wrong in one or a few plain lines, and what to do where that is plain: the messages down the chain of causes, without stacks. */
export function explainFailure(error: unknown): string {
  const messages: string[] = [];
  // A chain can be a ring; ten links say all there is to say.
  for (let link = error, depth = 0; link instanceof Error && depth < 10; link = link.cause, depth++) {
    // A refused connection to a name with several addresses: one error for each, and no message of its own.
    const parts = link instanceof AggregateError && link.message === '' ? link.errors : [link];
    for (const part of parts) {
      const message = part instanceof Error ? part.message : String(part);
      if (message !== '' && !messages.includes(message)) messages.push(message);
    }
  }
  const said = messages.length > 0 ? messages.join('\n') : String(error);
  // What the preparation explained is explained once more by the supervisor
  return noRoom.test(said) && !said.endsWith(makeRoom) ? `${said}\n${makeRoom}` : said;
}
