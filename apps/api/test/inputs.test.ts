import {
  assert as assertProperty,
  asyncProperty,
  constant,
  constantFrom,
  dictionary,
  double,
  json,
  jsonValue,
  maxSafeInteger,
  oneof,
  option,
  record,
  string as anyString,
  subarray,
  uint8Array,
} from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { tenants } from '@portal/db/schema/tenants';
import { testApp } from '../testing/app.ts';
import { addressOf, bodyExample, methodOf, takesJson, withGoodBody } from './every-route.ts';

const isLong = process.env['LONG_FORM'] !== undefined;
/** Inputs per route; `pnpm soak inputs` sends 2,000. */
const inputs = isLong ? 2_000 : 4;
const { app, request, cookieOf, make, runtime, logLines } = await testApp();
const routes = app.routeList.filter(({ method }) => method !== 'HEAD');

const ErrorShape = z.looseObject({
  statusCode: z.int(),
  code: z.string().regex(/^[A-Z][A-Z_]+$/),
  message: z.string(),
});

const contentTypes = [
  'application/json',
  'application/json; charset=utf-16',
  'application/JSON;charset=utf-8;x="',
  'application/problem+json',
  'text/plain',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'multipart/mixed; boundary=x',
  'multipart/form-data; boundary="',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'application/json, multipart/form-data; boundary=x',
  'json',
  '/',
  '',
];

const anyText = oneof(
  anyString({ unit: 'binary', maxLength: 40 }),
  constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\u202e',
    '-1',
    '1e309',
    'NaN',
    'null',
    '__proto__',
    '../..',
    '%',
    '😀'.repeat(300),
    "'; --",
  ),
);
const odd = oneof(jsonValue({ maxDepth: 4 }), anyText, double(), maxSafeInteger(), constantFrom(null, true, [], {}));

/** A valid body with some fields replaced or dropped, and sometimes an unknown one. */
const changed = (good: Record<string, unknown>) =>
  record({
    replaced: dictionary(constantFrom(...Object.keys(good), 'x'), odd, { maxKeys: 3 }),
    dropped: subarray(Object.keys(good), { maxLength: Math.min(2, Object.keys(good).length) }),
  }).map(({ replaced, dropped }) => {
    const fields = Object.entries({ ...good, ...replaced }).filter(([name]) => !dropped.includes(name));
    return JSON.stringify(Object.fromEntries(fields));
  });

const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());

const bytes = oneof(
  uint8Array({ maxLength: 400 }).map((list) => Buffer.from(list)),
  json({ maxDepth: 5 }),
  constantFrom(
    '{',
    '[[[[[[[[',
    '{"a":1,"a":2}',
    '"\\ud800"',
    '--x\r\n\r\n',
    '['.repeat(20_000),
    '--x--\r\n',
    '{"__proto__":{"a":1}}',
  ),
);

/** Statuses of requests refused before they changed anything. */
const changedNothing = new Set([400, 404, 413, 415]);

const p99Of = (durations: number[]): number =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length * 0.99)] ?? 0;

it('no input of any route causes a 5xx or ends the process', { timeout: 7_200_000 }, async () => {
  const durations: number[] = [];
  for (const route of routes) {
    const before = durations.length;
    const good = (takesJson(route) && bodyExample(route)) || {};
    const parameters = Object.keys((route.schema?.querystring as z.ZodObject | undefined)?.shape ?? {});
    const input = record({
      payload:
        route.schema?.body === undefined
          ? constant(undefined)
          : oneof(changed(good), changed(good), bytes, constant(withGoodBody(route).payload)),
      type: oneof(
        constant('application/json'),
        constant(withGoodBody(route).headers?.['content-type']),
        constantFrom(...contentTypes),
      ),
      query: dictionary(oneof(constantFrom(...parameters, 'x'), anyText), anyText, { maxKeys: 3 }),
      id: option(anyText),
    });
    const name = `${route.method} ${route.url}`;
    // Reused while the account stays unchanged: a new account per input would take longer than the inputs.
    let cookie: string | null = null;
    const asks = route.config.access.kind === 'role' ? { role: 'SUPER_ADMIN' as const } : { role: 'ADMIN' as const };
    await assertProperty(
      asyncProperty(input, async ({ payload, type, query, id }) => {
        const path = id === null ? addressOf(route.url) : route.url.replaceAll(/:\w+/g, () => encoded(id));
        const search = Object.entries(query).map(([key, value]) => `${encoded(key)}=${encoded(value)}`);
        cookie ??= await cookieOf(await make.user({ ...asks, email: null }));
        const startedAt = performance.now();
        const answer = await request({
          method: methodOf(route),
          url: `${path}?${search.join('&')}`,
          headers: { cookie, ...(payload !== undefined && type !== undefined && { 'content-type': type }) },
          ...(payload !== undefined && { payload }),
        });
        durations.push(performance.now() - startedAt);
        if (!changedNothing.has(answer.statusCode) && !(route.method === 'GET' && answer.statusCode === 200))
          cookie = null;
        // 502: the route calls the given address, where no server listens.
        if (answer.statusCode >= 500 && answer.statusCode !== 502)
          throw new Error(`${name} answered ${answer.statusCode}: ${answer.body}`);
        if (answer.statusCode >= 400) ErrorShape.parse(answer.json());
      }),
      { numRuns: inputs, endOnFailure: true },
    );
    // Each account has its own tenant, and some routes list all tenants.
    await runtime.database.acrossTenants('a test has asked a route', (tx) => tx.delete(tenants));
    logLines.length = 0;
    if (isLong) console.log(`${name}: p99 ${p99Of(durations.slice(before)).toFixed(0)} ms`);
  }
  const p99 = p99Of(durations);
  console.log(`${durations.length} inputs, p99 ${p99.toFixed(0)} ms`);
  if (isLong) expect(p99).toBeLessThanOrEqual(200);
});
