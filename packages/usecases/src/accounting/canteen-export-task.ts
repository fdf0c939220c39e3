import type { CanteenSettings } from '@portal/domain/accounting/canteen';
import { exportCanteen } from '@portal/domain/accounting/canteen-export';
import type { CanteenOrder } from './canteen-preview-task.ts';
import { readCanteen } from './reading/read-canteen.ts';
import { inWindows1252 } from './writing/encode.ts';

export interface CanteenExportOrder extends CanteenOrder {
  settings: CanteenSettings;
  allowNegative: boolean;
}

export interface PayrollFile {
  name: string;
  bytes: Uint8Array;
  /** How many lines went into it, and how many it has. */
  rows: number;
  people: number;
}

/** A task for a process of its own: a list in, the payroll file out. */
export function run({ bytes, ...order }: CanteenExportOrder): PayrollFile {
  const { reading } = readCanteen({ bytes, month: order.month });
  const { name, text, people } = exportCanteen(reading, order);
  return { name, bytes: inWindows1252(text), rows: reading.counted, people };
}
