import { canteenPreview } from '@portal/domain/accounting/canteen-lines';
import { readCanteen } from './reading/read-canteen.ts';

export interface CanteenOrder {
  bytes: Uint8Array;
  month: string;
}

/** A task for a process of its own: a list in, the JSON of its preview out. */
export function run({ bytes, month }: CanteenOrder): Uint8Array {
  const { encoding, reading } = readCanteen(bytes, month);
  return Buffer.from(JSON.stringify(canteenPreview(encoding, reading)));
}
