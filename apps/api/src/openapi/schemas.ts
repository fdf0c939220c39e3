import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;
/** A named schema may differ between input and output: defaults, trimming, strictness. */
export type Direction = 'input' | 'output';

/** Converts zod schemas to JSON Schema and stores each named one once. */
export interface SchemaBook {
  add(schema: z.ZodType, io: Direction): JsonSchema;
  /** Follows a reference into the book. */
  resolve(schema: JsonSchema): JsonSchema;
  readonly named: Record<string, JsonSchema>;
}

/** A reference to a shared component of the document. */
export const refTo = (kind: 'schemas' | 'responses' | 'examples' | 'headers', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

const refPrefix = refTo('schemas', '').$ref;
const inputSuffix = 'Input';

export function openSchemaBook(): SchemaBook {
  const named: Record<string, JsonSchema> = {};
  return {
    named,
    add(schema, io) {
      const suffix = io === 'input' ? inputSuffix : '';
      const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: tidy });
      const {
        $schema: _,
        $defs = {},
        ...root
      } = withRefs(made, (ref) => `${refPrefix}${ref.slice('#/$defs/'.length)}${suffix}`);
      for (const [name, part] of Object.entries($defs)) named[name + suffix] = part;
      return root;
    },
    resolve: (schema) => (schema.$ref === undefined ? schema : (named[schema.$ref.slice(refPrefix.length)] ?? {})),
  };
}

/** Merges the input and output schemas of a name where both are equal. */
export function mergeEqualSchemas<T extends { components: { schemas: Record<string, JsonSchema> } }>(document: T): T {
  const { schemas } = document.components;
  const duplicate = Object.keys(schemas).find((name) => {
    const plain = name.endsWith(inputSuffix) ? name.slice(0, -inputSuffix.length) : null;
    return plain !== null && (!(plain in schemas) || JSON.stringify(schemas[plain]) === JSON.stringify(schemas[name]));
  });
  if (duplicate === undefined) return document;
  const plain = duplicate.slice(0, -inputSuffix.length);
  schemas[plain] = schemas[duplicate] ?? {};
  delete schemas[duplicate];
  // Schemas that referred to both may be equal only after this merge.
  return mergeEqualSchemas(withRefs(document, (ref) => (ref === refPrefix + duplicate ? refPrefix + plain : ref)));
}

function withRefs<T>(document: T, rename: (ref: string) => string): T {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === '$ref' && typeof value === 'string' ? rename(value) : value,
  );
}

/** Removes keywords that do not help a reader and adds those that zod cannot derive. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod;
  // The format is clearer than its regular expression.
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.example !== undefined) {
    jsonSchema.examples = [jsonSchema.example];
    delete jsonSchema.example;
  }
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
  // Answers may gain fields, so the document does not forbid additional ones.
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
  // The fallback for an invalid value is internal.
  if (def.type === 'catch') delete jsonSchema.default;
  if (def.type === 'pipe' && def.out._zod.def.type === 'boolean') Object.assign(jsonSchema, { type: 'boolean' });
}
