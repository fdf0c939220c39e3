import { z } from 'zod';

/** What a zod schema takes, as JSON Schema: for values that are described in the document by one schema and read by other means. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    // A format says it better than the expression that checks it.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return described;
}
