import { canteenSummary } from '@portal/domain/accounting/canteen-lines';
import { readCanteen } from './reading/read-canteen.ts';

export interface CanteenOrder {
  bytes: Uint8Array;
  month: string;
}

/** A task for a process of its own: a list in, the JSON of its preview out. */
export function run(order: CanteenOrder): Uint8Array {
  const rows = jsonList();
  const { encoding, reading } = readCanteen(order, rows.add);
  const rest = JSON.stringify({ encoding, ...canteenSummary(reading) });
  return Buffer.concat([Buffer.from(`${rest.slice(0, -1)},"rows":`), ...rows.end(), Buffer.from('}')]);
}

/** So many items are kept until they are text. */
const portion = 500;

/** A list as JSON, written while it grows: a hundred thousand items would fill the memory they are kept in. */
function jsonList() {
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
