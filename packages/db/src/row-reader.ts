import { Column, noopDecoder } from 'drizzle-orm';
import { compileShape, type ShapeField } from '@portal/domain/shape';

interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}

/** The parts of a prepared statement of Drizzle's that say how its rows are read. */
interface ReadStatement {
  fields?: { path: string[]; field: Decoder | { decoder?: Decoder; sql?: { decoder: Decoder } } }[] | undefined;
  customResultMapper?: ((rows: object[]) => unknown[]) | undefined;
}

/**
 * Has the rows of a statement read by one function made for it, instead of asking for each field of each row how to read it. Rows
 * that are not flat stay with Drizzle, and all of them should a release keep its statements in another way.
 */
export function compileReader(prepared: object): void {
  const statement: ReadStatement = prepared;
  const { fields, customResultMapper } = statement;
  if (!fields || customResultMapper) return;
  const shape: ShapeField[] = [];
  for (const [from, { path, field }] of fields.entries()) {
    const decoder = 'mapFromDriverValue' in field ? field : (field.decoder ?? field.sql?.decoder);
    const [key] = path;
    if (key === undefined || path.length > 1 || !decoder) return;
    shape.push({ key, from, read: readerOf(decoder) });
  }
  const read = compileShape(shape);
  statement.customResultMapper = (rows) => rows.map(read);
}

const asIs = [Column.prototype.mapFromDriverValue, noopDecoder.mapFromDriverValue];

const readerOf = (decoder: Decoder): ShapeField['read'] =>
  asIs.includes(decoder.mapFromDriverValue)
    ? undefined
    : (value) => (value === null ? null : decoder.mapFromDriverValue(value));
