import type { FastifySerializerCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { compileShape } from '@portal/domain/shape';
import { isoOf } from '@portal/domain/time';

/** Makes of a value what JSON is to hold of it. */
type Writer = (value: unknown) => unknown;

/**
 * Writes answers by a writer compiled from the route's schema when it first answers. It keeps the declared keys in the declared order,
 * writes the declared formats and looks at types; that strings keep to patterns and lengths it takes for granted, as they are our
 * own. A value of another type than declared goes the long way, by the schema itself, which says what is wrong with it.
 */
export const compileAnswers: FastifySerializerCompiler<z.core.$ZodType> = (route) => {
  const checked = serializerCompiler(route);
  let write: Writer | undefined;
  return (answer) => {
    try {
      write ??= writerOf(route.schema);
      return JSON.stringify(write(answer));
    } catch (error) {
      if (error !== unfit) throw error;
      return checked(answer);
    }
  };
};

// Thrown as it is: a trace that nobody reads would cost more than the answer.
const unfit = Symbol('an answer that is not as declared');
const refuse = (): never => {
  throw unfit;
};

function writerOf(schema: z.core.$ZodType): Writer {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return isPlain(def) ? stringWriter(def) : byItself(schema);
    case 'number':
      return isPlain(def) && !def.checks?.some(isOverwrite) ? numberWriter : byItself(schema);
    case 'boolean':
      return isPlain(def) ? (value) => (typeof value === 'boolean' ? value : refuse()) : byItself(schema);
    case 'null':
      return (value) => (value === null ? null : refuse());
    case 'literal':
      return oneOf(def.values);
    case 'enum':
      return oneOf(Object.values(def.entries));
    case 'nullable': {
      const write = writerOf(def.innerType);
      return (value) => (value === null ? null : write(value));
    }
    case 'optional': {
      const write = writerOf(def.innerType);
      return (value) => (value === undefined ? undefined : write(value));
    }
    case 'array':
      return isPlain(def) ? arrayWriter(writerOf(def.element)) : byItself(schema);
    case 'object':
      return isPlain(def) && !def.catchall ? objectWriter(def.shape) : byItself(schema);
    case 'pipe':
      return def.reverseTransform === isoOf ? instantWriter : byItself(schema);
    default:
      return byItself(schema);
  }
}

/** What is rare or hard to say, such as a choice between objects, is left to the schema. */
const byItself =
  (schema: z.core.$ZodType): Writer =>
  (value) => {
    const encoded = z.core.safeEncode(schema, value);
    return encoded.success ? encoded.data : refuse();
  };

// They refuse a value or let it pass, or say what they make of it; others may do anything.
const plainChecks = new Set([
  'string_format',
  'number_format',
  'min_length',
  'max_length',
  'length_equals',
  'greater_than',
  'less_than',
  'multiple_of',
  'overwrite',
]);

const isPlain = (def: z.core.$ZodTypeDef & { coerce?: boolean }): boolean =>
  !def.coerce &&
  !isUrl(def) &&
  !def.checks?.some(({ _zod: { def: check } }) => !plainChecks.has(check.check) || isUrl(check));

// Its check writes the address anew.
const isUrl = (def: object): boolean => 'format' in def && def.format === 'url';

const isOverwrite = (check: z.core.$ZodCheck): boolean => check._zod.def.check === 'overwrite';

function stringWriter(def: z.core.$ZodStringDef): Writer {
  const changes = (def.checks ?? [])
    .filter(isOverwrite)
    .map((check) => (check._zod.def as z.core.$ZodCheckOverwriteDef<string>).tx);
  return (value) => {
    if (typeof value !== 'string') return refuse();
    let text = value;
    for (const change of changes) text = change(text);
    return text;
  };
}

const numberWriter: Writer = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : refuse());

function oneOf(values: readonly unknown[]): Writer {
  const known = new Set(values);
  return (value) => (known.has(value) ? value : refuse());
}

const arrayWriter =
  (write: Writer): Writer =>
  (value) =>
    Array.isArray(value) ? value.map(write) : refuse();

function objectWriter(shape: z.core.$ZodShape): Writer {
  const make = compileShape(Object.entries(shape).map(([key, schema]) => ({ key, from: key, read: writerOf(schema) })));
  return (value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? make(value) : refuse());
}

const instantWriter: Writer = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? isoOf(value) : refuse();
