/** What went wrong in one or a few plain lines: the messages down the chain of causes, without stacks. */
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
  return messages.length > 0 ? messages.join('\n') : String(error);
}
