import type { JsonSchema, SchemaBook } from './schemas.ts';

/** An example value: the one stated in the schema, or one composed from the examples of its parts; undefined if a part has none. */
export function exampleOf(given: JsonSchema, book: SchemaBook): unknown {
  const schema = book.resolve(given);
  const stated = given.examples?.[0] ?? schema.examples?.[0];
  if (stated !== undefined) return stated;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return exampleOf(choice, book);
  if (schema.type === 'array') {
    const item = exampleOf((schema.items ?? {}) as JsonSchema, book);
    return item === undefined ? undefined : [item];
  }
  if (schema.type === 'object') {
    const parts = Object.entries(schema.properties ?? {}).map(
      ([name, part]) => [name, exampleOf(part as JsonSchema, book)] as const,
    );
    return parts.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(parts);
  }
  return ofType(schema);
}

function ofType({ type, format }: JsonSchema): unknown {
  if (format === 'uuid') return '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11';
  if (format === 'date-time') return '2026-11-20T08:30:00.000Z';
  if (type === 'boolean') return true;
  return undefined;
}
