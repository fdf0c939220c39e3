import type { CanteenSettings } from '@portal/domain/accounting/canteen';
import { exportCanteen } from '@portal/domain/accounting/canteen-export';
import type { CanteenInput } from './canteen-preview-task.ts';
import { readCanteen } from './reading/read-canteen.ts';
import { inWindows1252 } from './writing/encode.ts';

export interface CanteenExportInput extends CanteenInput {
  settings: CanteenSettings;
  allowNegative: boolean;
}

export interface PayrollFile {
  name: string;
  bytes: Uint8Array;
  /** Lines read from the list. */
  rows: number;
  /** Lines of the file. */
  people: number;
}

/** Sandbox task: creates the payroll file of a list. */
export function run({ bytes, ...options }: CanteenExportInput): PayrollFile {
  const { reading } = readCanteen({ bytes, month: options.month });
  const { name, text, people } = exportCanteen(reading, options);
  return { name, bytes: inWindows1252(text), rows: reading.validLines, people };
}
