import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PathId } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import { exampleOf } from './examples.ts';
import { type JsonSchema, mergeEqualSchemas, openSchemaBook } from './schemas.ts';

const Same = z.object({ at: Instant }).meta({ id: 'TestSame' });
const Holder = z.object({ same: Same, name: z.string() }).meta({ id: 'TestHolder' });
const Different = z.object({ limit: z.int().default(5), same: Same }).meta({ id: 'TestDifferent' });

function documentOf(add: (book: ReturnType<typeof openSchemaBook>) => Record<string, JsonSchema>) {
  const book = openSchemaBook();
  const roots = add(book);
  return mergeEqualSchemas({ roots, components: { schemas: book.named } });
}

describe('a named schema', () => {
  it('appears once if input and output are equal at every depth', () => {
    const document = documentOf((book) => ({
      sent: book.add(Holder, 'input'),
      answered: book.add(z.array(Holder), 'output'),
    }));
    expect(Object.keys(document.components.schemas).toSorted()).toEqual(['Instant', 'TestHolder', 'TestSame']);
    expect(document.roots['sent']).toEqual({ $ref: '#/components/schemas/TestHolder' });
    expect(document.roots['answered']).toMatchObject({
      type: 'array',
      items: { $ref: '#/components/schemas/TestHolder' },
    });
  });

  it('appears twice if they differ', () => {
    const { components } = documentOf((book) => ({
      sent: book.add(Different, 'input'),
      answered: book.add(Different, 'output'),
    }));
    expect(Object.keys(components.schemas).toSorted()).toEqual([
      'Instant',
      'TestDifferent',
      'TestDifferentInput',
      'TestSame',
    ]);
    expect(components.schemas['TestDifferent']?.required).toEqual(['limit', 'same']);
    expect(components.schemas['TestDifferentInput']?.required).toEqual(['same']);
  });

  it('keeps its plain name if it is only an input', () => {
    const document = documentOf((book) => ({ sent: book.add(Same, 'input') }));
    expect(Object.keys(document.components.schemas).toSorted()).toEqual(['Instant', 'TestSame']);
  });
});

describe('a schema in the document', () => {
  const show = (schema: z.ZodType) => openSchemaBook().add(schema, 'input');

  it('shows a format instead of its regular expression, and no implicit limits', () => {
    expect(show(z.uuid())).toEqual({ type: 'string', format: 'uuid' });
    expect(show(z.int())).toEqual({ type: 'integer' });
    expect(show(z.string().regex(/^x/))).toMatchObject({ pattern: '^x' });
  });

  it('shows the value a client sends, not its parsed form', () => {
    expect(show(z.stringbool())).toEqual({ type: 'boolean' });
    expect(show(PathId)).toEqual({ type: 'string', format: 'uuid' });
    expect(show(z.coerce.number().int().min(1).max(9))).toEqual({ type: 'integer', minimum: 1, maximum: 9 });
  });

  it('allows additional properties unless the schema is strict', () => {
    expect(show(z.object({}))).not.toHaveProperty('additionalProperties');
    expect(show(z.strictObject({}))).toMatchObject({ additionalProperties: false });
  });
});

describe('an example', () => {
  const of = (schema: z.ZodType) => {
    const book = openSchemaBook();
    return exampleOf(book.add(schema, 'output'), book);
  };

  it('is the stated one, or composed from the examples of its parts', () => {
    expect(of(z.object({ a: z.string() }).meta({ example: { a: 'x' } }))).toEqual({ a: 'x' });
    expect(
      of(
        z.array(z.object({ at: Instant, kind: z.enum(['b', 'c']), no: z.string().nullable().meta({ example: 'n' }) })),
      ),
    ).toEqual([{ at: '2026-11-20T08:30:00.000Z', kind: 'b', no: 'n' }]);
  });

  it('is missing if a part has none', () => {
    expect(of(z.object({ a: z.string() }))).toBeUndefined();
    expect(of(z.array(z.string()))).toBeUndefined();
  });
});
