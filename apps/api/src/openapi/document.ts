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
import { type JsonSchema, mergeEqualSchemas, openSchemaBook, type SchemaBook } from './schemas.ts';

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
  return mergeEqualSchemas({
    openapi: '3.1.0',
    info: { ...info, version: service.version },
    // Relative to the address of this document.
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
  // A route's own answer for a status takes precedence over the error answers.
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
  // Shown once, beside the schema, where readers and tools expect it.
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

/** Introduction to the whole interface. */
const info = {
  title: 'Portal',
  contact: { name: 'The operator of this installation' },
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  description: `Multi-tenant portal: accounts, dashboards, monitoring, tenders and accounting tools for organizations that share one service but never see each other’s data.

**Signing in.** \`POST /auth/login\` sets an httpOnly session cookie, valid for 30 days; send it with every other call. \`x-access\` of each operation says who may call it. It is a role, or a level and a module: \`use:\` or \`manage:\` with a module needs a grant, which an administrator gives to accounts and groups; ADMIN and SUPER_ADMIN have \`manage\` for every module of their tenant. \`admin:\` with a module is only for ADMIN and SUPER_ADMIN, while the module is switched on. While an account must change its password, every other call that needs a session answers 403 \`PASSWORD_CHANGE_REQUIRED\`.

**Browsers on other origins** can call the API only if their origin is listed in the setting CORS_ORIGINS. A request that changes something and has any other \`Origin\` is refused with 403 \`ORIGIN_NOT_ALLOWED\`.

**Errors** all have the form of the schema \`Error\`. \`code\` never changes; \`message\` is for people. Checks come in this order: unknown path 404, method 405 with \`Allow\`, session 401, forced change 403, role or module 403, body type 415 and size 413, input 400, record 404, state 409. A request for a record of another tenant or user answers the same 404 as for a record that never existed. Every answer has an \`X-Request-Id\`; name it when you report a problem.

**Lists** are bare arrays. Long lists take \`limit\` and \`cursor\`; the headers \`Link\` and \`X-Next-Cursor\` point to the next page.

**Values.** Ids are UUIDs, times are ISO 8601 in UTC, and money is in integer cents; field names contain the unit. Unknown JSON keys are ignored. Bodies are JSON in UTF-8, at most 1 MiB.`,
};
