import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';
import { describeAccess } from '@portal/domain/access';
import { areas } from '@portal/usecases/areas';
import { ErrorBody } from '../plugins/error-body.ts';
import { needsBody } from '../plugins/json-body.ts';
import type { ListedRoute } from '../plugins/route-list.ts';
import { errorCodesOf, openErrorBook } from './error-answers.ts';
import { exampleOf } from './examples.ts';
import { headerRefs, headers } from './headers.ts';
import { type JsonSchema, mergeTwins, openSchemaBook, type SchemaBook } from './schemas.ts';
import { info } from './texts.ts';

const tags = areas.flatMap((area) =>
  Object.entries(area.tags ?? {}).map(([name, description]) => ({ name, description })),
);

/** The OpenAPI 3.1 document of these routes. */
export function describeRoutes(all: ListedRoute[], service: { version: string; cookieName: string }) {
  const routes = all.filter(({ method, schema }) => method !== 'HEAD' && !schema?.hide);
  const book = openSchemaBook();
  book.add(ErrorBody, 'output');
  const errors = openErrorBook();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, book, errors) };
  }
  return mergeTwins({
    openapi: '3.1.0',
    info: { ...info, version: service.version },
    // Wherever this document was read.
    servers: [{ url: '/' }],
    tags: tags.filter(({ name }) => routes.some(({ schema }) => schema?.tags?.includes(name))),
    paths,
    components: {
      schemas: book.named,
      responses: errors.responses,
      examples: errors.examples,
      headers,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: service.cookieName, description: 'Set by `POST /auth/login`.' },
      },
    },
  });
}

function operationOf(route: ListedRoute, book: SchemaBook, errors: ReturnType<typeof openErrorBook>) {
  const { config } = route;
  const {
    operationId,
    summary,
    description,
    tags: own,
    body,
    querystring,
    params,
    response,
    consumes,
    produces,
  } = route.schema ?? {};
  const answers = Object.entries((response ?? {}) as Record<string, z.ZodType>).map(([status, schema]) => [
    status,
    answerOf(Number(status), schema, produces, isPaged(querystring), book),
  ]);
  // What a route says itself about a status goes before the rule.
  const failures = [...errorCodesOf(route)]
    .filter(([status]) => answers.every(([answered]) => answered !== String(status)))
    .map(([status, codes]) => [String(status), errors.add(status, codes)]);
  return {
    tags: own,
    summary,
    description,
    operationId,
    'x-access': describeAccess(config.access),
    security: config.access.kind === 'open' ? [] : [{ session: [] }],
    parameters: [...parametersOf('path', params, book), ...parametersOf('query', querystring, book)],
    ...(body !== undefined && {
      requestBody: {
        required: needsBody(body),
        content: contentOf(book.add(body as z.ZodType, 'input'), consumes, book),
      },
    }),
    responses: Object.fromEntries([...answers, ...failures]),
  };
}

function answerOf(
  status: number,
  zodSchema: z.ZodType,
  produces: readonly string[] | undefined,
  paged: boolean,
  book: SchemaBook,
) {
  const description = zodSchema.description ?? STATUS_CODES[status] ?? '';
  if (zodSchema.def.type === 'undefined') return { description };
  const schema = book.add(zodSchema, 'output');
  return {
    description,
    ...(paged && { headers: headerRefs(['Link', 'X-Next-Cursor', 'X-Total-Count']) }),
    content: contentOf(schema, produces, book),
  };
}

function contentOf(schema: JsonSchema, types: readonly string[] = ['application/json'], book: SchemaBook) {
  const example = exampleOf(schema, book);
  // Said once: beside the schema, where readers and tools look for it.
  const { examples: _, ...bare } = schema;
  return Object.fromEntries(types.map((type) => [type, { schema: bare, ...(example !== undefined && { example }) }]));
}

function parametersOf(place: 'path' | 'query', zodSchema: unknown, book: SchemaBook) {
  if (zodSchema === undefined) return [];
  const { properties = {}, required = [] } = book.resolve(book.add(zodSchema as z.ZodType, 'input'));
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonSchema;
    return {
      name,
      in: place,
      ...((place === 'path' || required.includes(name)) && { required: true }),
      ...(description && { description }),
      schema,
    };
  });
}

const isPaged = (querystring: unknown): boolean =>
  querystring !== undefined && 'cursor' in (querystring as z.ZodObject).shape;
