import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeAccess } from '@portal/domain/access';
import { programOf } from '@portal/testing/program';
import { testApp } from '../testing/app.ts';

const { app, request } = await testApp();

interface Ref {
  $ref: string;
}
interface Media {
  schema?: Partial<Ref>;
  example?: unknown;
  examples?: Record<string, Ref>;
}
interface Answer {
  description: string;
  headers?: Record<string, Ref>;
  content?: Record<string, Media>;
}
interface Operation {
  tags: string[];
  summary: string;
  description: string;
  operationId: string;
  'x-access': string;
  parameters: { name: string; in: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answer | Ref>;
}
interface Document {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<'schemas' | 'responses' | 'examples' | 'headers', Record<string, object>>;
}

const answer = await request({ url: '/openapi.json' });
const document = answer.json<Document>();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

/** Resolves a reference; returns anything else unchanged. */
function resolve<T extends object>(part: T | Ref): T {
  if (!('$ref' in part)) return part;
  const [, kind, name] = /^#\/components\/(\w+)\/([\w.-]+)$/.exec(part.$ref) ?? [];
  return document.components[kind as 'responses'][name ?? ''] as T;
}

describe('the OpenAPI document', () => {
  it('covers every route with its access, except the files of the page', () => {
    const listed = app.routeList
      .filter(({ method, schema }) => method !== 'HEAD' && !schema?.hide)
      .map(
        ({ method, url, config }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}: ${describeAccess(config.access)}`,
      );
    expect(operations.map(({ name, operation }) => `${name}: ${operation['x-access']}`).toSorted()).toEqual(
      listed.toSorted(),
    );
    expect(document.openapi).toBe('3.1.0');
  });

  it.each(operations)('describes $name', ({ operation, path }) => {
    expect(operation.summary).toMatch(/^[A-Z].{5,80}[^.]$/);
    expect(operation.description).toMatch(/^[A-Z`].{10,}[.:]$/s);
    expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
    expect(operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)).toEqual(
      path.match(/\{\w+\}/g) ?? [],
    );
  });

  it.each(operations)('shows input and answers of $name with examples', ({ operation }) => {
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
    // A started run answers 202, or 200 to a caller that waits for it.
    // A query without a result answers 204, and a range of a file 206.
    expect(['200', '201', '202', '204', '200 202', '200 204', '200 206']).toContain(
      successes.map(([status]) => status).join(' '),
    );
    for (const [status, success] of successes) {
      const { description, content } = resolve(success);
      expect(description).not.toBe('');
      expect(content === undefined).toBe(status === '204');
      expectExamples(content);
    }
    expectExamples(operation.requestBody?.content);
  });

  it.each(operations)('names the errors of $name, each with an example', ({ operation }) => {
    const errors = Object.entries(operation.responses).filter(([status]) => status >= '400');
    expect(errors.map(([status]) => status)).toContain('500');
    if (!operation['x-access'].startsWith('open'))
      expect(errors.map(([status]) => status)).toEqual(expect.arrayContaining(['401', '403', '503']));
    for (const [status, error] of errors) {
      expect(Object.keys(error)).toEqual(['$ref']);
      const { description, headers = {}, content } = resolve(error);
      expect(Object.keys(headers)).toEqual(status === '429' || status === '503' ? ['Retry-After'] : []);
      const { schema, examples = {} } = content?.['application/json'] ?? {};
      expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
      expect(Object.keys(examples)).not.toHaveLength(0);
      for (const [code, example] of Object.entries(examples)) {
        const { value } = resolve<{ value?: object }>(example);
        expect(value).toMatchObject({
          statusCode: Number(status),
          code,
          error: expect.any(String),
          message: expect.stringMatching(/\.$/),
        });
        expect(description).toContain(code);
      }
    }
  });

  it('has unique operation names', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id))).toBe(true);
  });

  it('has only internal references, and no unused component', () => {
    const targets = new Set([...answer.body.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target));
    const { schemas, responses, examples, headers } = document.components;
    const components = Object.entries({ schemas, responses, examples, headers }).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect(targets).toEqual(new Set(components));
    expect(answer.body).not.toContain('$defs');
  });

  it('takes less than 3,000 bytes per operation', () => {
    expect(Buffer.byteLength(answer.body) / operations.length).toBeLessThan(3000);
  });
});

it('is exactly the output of pnpm openapi', async () => {
  const { command, args, env } = programOf('scripts/openapi.ts');
  const { stdout, stderr } = await promisify(execFile)(command, args, {
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(JSON.parse(stdout)).toEqual(document);
  expect(stderr).toBe('');
});

function expectExamples(content: Record<string, Media> | undefined): void {
  for (const [type, { schema, example }] of Object.entries(content ?? {})) {
    expect(schema).toBeDefined();
    if (type === 'application/json') expect(example).toBeDefined();
  }
}

describe('the documentation page', () => {
  it('uses only files of this server', async () => {
    const page = await request({ url: '/docs' });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("script-src 'self';");
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const url of files) {
      expect(url).toMatch(/^\/docs\//);
      expect((await request({ url })).statusCode).toBe(200);
    }
    expect(page.body).not.toMatch(/<script>|onload=/);
  });

  it('gets its files unchanged from the package', async () => {
    const shipped = new URL('static/swagger-ui-bundle.js', import.meta.resolve('@fastify/swagger-ui/package.json'));
    expect((await request({ url: '/docs/swagger-ui-bundle.js' })).body).toBe(await readFile(shipped, 'utf8'));
  });
});
