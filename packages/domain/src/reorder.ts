import { z } from 'zod';
import { invalidField } from './errors.ts';
import { Id } from './ids.ts';
import { jsonSchemaOf } from './json-schema.ts';

/** The body of a reorder route: the complete list, bare or as `{ids}`; parsed to `{ids}`. */
export function reorderBody<Shape extends z.core.$ZodLooseShape>(more: Shape, maxIds: number) {
  const Ids = z.array(Id).max(maxIds);
  const Named = z.object({ ...more, ids: Ids });
  return z
    .unknown()
    .transform((body, check) => {
      const parsed = Named.safeParse(Array.isArray(body) ? { ids: body } : body);
      if (parsed.success) return parsed.data;
      for (const { path, message } of parsed.error.issues) check.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    })
    .meta({ anyOf: [Named, Ids].map(jsonSchemaOf) });
}

/** Throws 400 unless `wanted` contains each id of `current` exactly once and no other id. */
export function checkCompleteOrder(current: readonly string[], wanted: readonly string[]): void {
  const named = new Set(wanted);
  if (named.size !== wanted.length) throw invalidField('ids', 'must not contain an id twice');
  if (named.size !== current.length || !current.every((id) => named.has(id)))
    throw invalidField('ids', 'must be the complete list');
}
