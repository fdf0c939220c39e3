/** So many items are kept until they are text. */
const portion = 500;

/** A list as JSON, written while it grows: a hundred thousand items would fill the memory they are kept in. */
export function jsonList() {
  const parts: Buffer[] = [];
  let waiting: object[] = [];
  function write(): void {
    if (waiting.length === 0) return;
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(waiting).slice(1, -1)}`));
    waiting = [];
  }
  return {
    add(item: object): void {
      if (waiting.push(item) === portion) write();
    },
    end(): Buffer[] {
      write();
      return [Buffer.from('['), ...parts, Buffer.from(']')];
    },
  };
}
