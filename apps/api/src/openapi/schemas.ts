import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;
/** What a client sends and what it gets may differ under one name: defaults, trimming, strictness. */
export type Direction = 'input' | 'output';

/** Turns zod schemas into those of the document and keeps the named ones, each under its name once. */
export interface SchemaBook {
  add(schema: z.ZodType, io: Direction): JsonSchema;
  /** Follows a reference into the book. */
  resolve(schema: JsonSchema): JsonSchema;
  readonly named: Record<string, JsonSchema>;
}

/** Points to a part of the document that stands there once. */
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

/** Gives what is sent and what is answered under one name a single schema wherever the two are the same. */
export function mergeTwins<T extends { components: { schemas: Record<string, JsonSchema> } }>(document: T): T {
  const { schemas } = document.components;
  const twin = Object.keys(schemas).find((name) => {
    const plain = name.endsWith(inputSuffix) ? name.slice(0, -inputSuffix.length) : null;
    return plain !== null && (!(plain in schemas) || JSON.stringify(schemas[plain]) === JSON.stringify(schemas[name]));
  });
  if (twin === undefined) return document;
  const plain = twin.slice(0, -inputSuffix.length);
  schemas[plain] = schemas[twin] ?? {};
  delete schemas[twin];
  // Others may be the same only now that they point to the same.
  return mergeTwins(withRefs(document, (ref) => (ref === refPrefix + twin ? refPrefix + plain : ref)));
}

function withRefs<T>(document: T, rename: (ref: string) => string): T {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === '$ref' && typeof value === 'string' ? rename(value) : value,
  );
}

/** Leaves out what tells a reader nothing and fills in what zod cannot say. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod;
  // A format says it better than the expression that checks it.
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.example !== undefined) {
    jsonSchema.examples = [jsonSchema.example];
    delete jsonSchema.example;
  }
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
  // An answer may gain fields without notice.
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
  // The value a wrong id is read as is nobody's business.
  if (def.type === 'catch') delete jsonSchema.default;
  if (def.type === 'pipe' && def.out._zod.def.type === 'boolean') Object.assign(jsonSchema, { type: 'boolean' });
}
