import { z } from 'zod';

/** The input of a zod schema as JSON Schema: for values that one schema describes in the document and other code parses. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    // The format is clearer than its regular expression.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return described;
}
