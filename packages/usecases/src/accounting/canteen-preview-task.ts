import { canteenSummary } from '@portal/domain/accounting/canteen-lines';
import { readCanteen } from './reading/read-canteen.ts';

export interface CanteenInput {
  bytes: Uint8Array;
  month: string;
}

/** Sandbox task: returns the preview of a list as JSON. */
export function run(input: CanteenInput): Uint8Array {
  const rows = jsonList();
  const { encoding, reading } = readCanteen(input, rows.add);
  const rest = JSON.stringify({ encoding, ...canteenSummary(reading) });
  return Buffer.concat([Buffer.from(`${rest.slice(0, -1)},"rows":`), ...rows.end(), Buffer.from('}')]);
}

/** Items serialized together. */
const portion = 500;

/** Serializes a list while it grows: 100,000 items as objects would exceed the memory limit. */
function jsonList() {
  const parts: Buffer[] = [];
  let pending: object[] = [];
  function write(): void {
    if (pending.length === 0) return;
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(pending).slice(1, -1)}`));
    pending = [];
  }
  return {
    add(item: object): void {
      if (pending.push(item) === portion) write();
    },
    end(): Buffer[] {
      write();
      return [Buffer.from('['), ...parts, Buffer.from(']')];
    },
  };
}
