import { canteenSummary } from '@portal/domain/accounting/canteen-lines';
import { readCanteen } from './reading/read-canteen.ts';
import { jsonList } from './writing/json-list.ts';

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
