import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  date,
  dictionary,
  double,
  integer,
  jsonValue,
  nat,
  oneof,
  option,
  property,
  record,
  sample,
  shuffledSubarray,
  string,
  stringMatching,
  uuid,
  type Arbitrary,
} from 'fast-check';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileAnswers } from '../src/answers.ts';
import { testApp } from '../testing/app.ts';

const { app } = await testApp();

const routes = app.routeList.filter(({ method }) => method !== 'HEAD');
const answers = routes.flatMap(({ method, url, schema }) =>
  Object.entries((schema?.response ?? {}) as Record<string, z.ZodType>)
    .filter(([, answer]) => answer instanceof z.ZodType)
    .map(([status, answer]) => ({ name: `${method} ${url} ${status}`, method, url, answer })),
);

/** What a handler may hand over under a schema: its keys and others, in any order, texts of any form. */
function handedOver(schema: z.core.$ZodType): Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return textFor(schema);
    case 'number':
      return numberFor(schema);
    case 'boolean':
      return boolean();
    case 'null':
      return constant(null);
    case 'literal':
      return constantFrom(...def.values);
    case 'enum':
      return constantFrom(...Object.values(def.entries));
    case 'nullable':
      return option(handedOver(def.innerType));
    case 'optional':
      return option(handedOver(def.innerType), { nil: undefined });
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'catch':
    case 'nonoptional':
      return handedOver(def.innerType);
    case 'array':
      return array(handedOver(def.element), { maxLength: 3 });
    case 'record':
      return dictionary(handedOver(def.keyType) as Arbitrary<string>, handedOver(def.valueType), { maxKeys: 3 });
    case 'union':
      return oneof(...def.options.map((option) => handedOver(option)));
    case 'object':
      return record({
        ...Object.fromEntries(Object.entries(def.shape).map(([key, part]) => [key, handedOver(part)])),
        ...(def.catchall ? {} : { passwordHash: string(), ldapDn: string() }),
      })
        .chain((made) => shuffledSubarray(Object.entries(made), { minLength: Object.keys(made).length }))
        .map((entries) => Object.fromEntries(entries));
    case 'date':
      return date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
    case 'pipe':
      return handedOver(def.out);
    case 'undefined':
      return constant(undefined);
    case 'unknown':
    case 'any':
    case 'custom':
      return jsonValue();
    default:
      throw new Error(`The test knows no values of ${def.type}.`);
  }
}

const passes = (schema: z.core.$ZodType) => (value: unknown) => z.safeEncode(schema as z.ZodType, value).success;

const numberFor = (schema: z.core.$ZodType): Arbitrary<number> =>
  oneof(nat(24), integer(), double({ noNaN: true, noDefaultInfinity: true })).filter(passes(schema));

/** Texts, of which some keep to the schema's patterns and some need to be written anew by it. */
function textFor(schema: z.core.$ZodType): Arbitrary<string> {
  const texts = oneof(
    string({ unit: 'grapheme' }),
    string({ unit: 'binary' }),
    uuid(),
    uuid().map((id) => id.toUpperCase()),
    constantFrom(
      '#AABBCC',
      '#2563eb',
      ' https://example.org/a b ',
      '1.4.0',
      'a@example.org',
      '2026-11-20T08:30:00.000Z',
      '07-01',
    ),
    ...patternsOf(schema).map((pattern) => stringMatching(pattern)),
  );
  const { example } = z.globalRegistry.get(schema) ?? {};
  const candidates = typeof example === 'string' ? oneof(texts, constant(example)) : texts;
  // Looking for one that passes would else never end.
  if (!sample(candidates, 500).some(passes(schema)))
    throw new Error(`The test knows no text that passes ${JSON.stringify(z.toJSONSchema(schema, { io: 'output' }))}.`);
  return candidates.filter(passes(schema));
}

/** The patterns a text has to match, as far as they can be turned into texts: what looks ahead or behind cannot. */
const patternsOf = (schema: z.core.$ZodType): RegExp[] => {
  const { def } = (schema as z.core.$ZodString)._zod;
  const checks = [def, ...(def.checks ?? []).map((check) => check._zod.def)] as { pattern?: RegExp }[];
  return checks.flatMap(({ pattern }) => (pattern && !/\(\?[=!<]/.test(pattern.source) ? [pattern] : []));
};

describe('answers written by a compiled writer', () => {
  it.each(answers)('of $name are those the schema would write, byte by byte', ({ method, url, answer }) => {
    const route = { schema: answer, method, url, httpPart: 'response' };
    const compiled = compileAnswers(route);
    const checked = serializerCompiler(route);
    let written = 0;
    assert(
      property(handedOver(answer), (value) => {
        const expected = outcome(() => checked(value));
        if ('error' in expected) return;
        written += 1;
        expect(compiled(value)).toBe(expected.text);
      }),
      { numRuns: 60 },
    );
    expect(written).toBeGreaterThan(0);
  });

  it.each(answers)('of $name are refused where a value is of another type', ({ method, url, answer }) => {
    const route = { schema: answer, method, url, httpPart: 'response' };
    const compiled = compileAnswers(route);
    const checked = serializerCompiler(route);
    for (const value of [undefined, null, 'text', 7, true, [], {}, [null], [{}], new Date(Number.NaN)]) {
      expect(outcome(() => compiled(value))).toEqual(outcome(() => checked(value)));
    }
  });
});

describe('a compiled writer', () => {
  const Person = z.object({ id: z.uuid().toLowerCase(), name: z.string(), at: z.date().optional() });
  const write = compileAnswers({ schema: z.array(Person), method: 'GET', url: '/people', httpPart: 'response' });

  it('drops what is not declared', () => {
    const person = { name: 'Ada', id: '0198D3C0-6D5E-7B44-8F0A-3F1F6F0C2A11', passwordHash: 'x' };
    expect(write([person])).toBe('[{"id":"0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11","name":"Ada"}]');
  });

  it('says which value is of another type', () => {
    expect(() => write([{ id: '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11', name: 7 }])).toThrow(
      expect.objectContaining({ code: 'FST_ERR_RESPONSE_SERIALIZATION', cause: expect.anything() }),
    );
  });
});

function outcome(write: () => string): { text: string } | { error: string } {
  try {
    return { text: write() };
  } catch (error) {
    return { error: String(error) };
  }
}
