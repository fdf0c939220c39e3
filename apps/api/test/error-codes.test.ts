import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '@portal/domain/error-codes';
import { conflict } from '@portal/domain/errors';
import { statusOf } from '../src/plugins/error-body.ts';
import type { ErrorCodes } from '../src/zod-app.ts';
import { testApp } from '../testing/app.ts';

const { app } = await testApp();
const root = fileURLToPath(new URL('../../../', import.meta.url));
const table = new Set<string>(Object.keys(errorCodes));

/** Functions that create a refusal, and their default code. */
const makers = new Map<string, ErrorCode | null>([
  ['PortalError', null],
  ['errorBody', null],
  ['conflictOn', null],
  ['conflictWithUnfinished', null],
  ['formFile', null],
  ['formFiles', null],
  ['invalid', null],
  ['conflict', null],
  ['upstream', null],
  ['invalidField', 'VALIDATION_FAILED'],
  ['forbidden', 'FORBIDDEN'],
  ['unauthenticated', 'UNAUTHENTICATED'],
  ['notFound', 'NOT_FOUND'],
  ['tooLarge', 'PAYLOAD_TOO_LARGE'],
  ['busy', 'RATE_LIMITED'],
  ['unavailable', 'UNAVAILABLE'],
  ['formFiles', null],
]);

it('every code of the table is thrown somewhere', async () => {
  const thrown = new Set<string>();
  for await (const path of glob('{packages,apps}/*/src/**/*.ts', { cwd: root })) {
    if (/\.test\.ts$|^packages\/(testing|domain\/src\/errors?(-codes)?\.ts)/.test(path)) continue;
    const source = (await readFile(join(root, path), 'utf8')).replaceAll(/^\s*(\/?\*|\/\/).*$/gm, '');
    for (const code of codesThrownIn(source)) thrown.add(code);
  }
  expect([...thrown].toSorted()).toEqual([...table].toSorted());
});

it('every code that a route declares is in the table, under its status', () => {
  const declared = app.routeList.flatMap(({ config }) =>
    Object.entries(config.errors ?? {}).flatMap(([status, codes]) =>
      codes.map((code) => [code, Number(status)] as const),
    ),
  );
  expect(declared.length).toBeGreaterThan(40);
  for (const [code, status] of declared) expect([code, statusOf[errorCodes[code].kind]]).toEqual([code, status]);
});

it('an unknown code or a code of another kind does not compile', () => {
  const declared: ErrorCodes[] = [
    { 409: ['USERNAME_TAKEN'] },
    // @ts-expect-error It belongs to 409.
    { 403: ['USERNAME_TAKEN'] },
    // @ts-expect-error It does not exist.
    { 409: ['NEVER_THROWN'] },
  ];
  expect(declared).toHaveLength(3);
  // @ts-expect-error Its kind is `forbidden`.
  expect(conflict('ROLE_NOT_ALLOWED').kind).toBe('forbidden');
});

it('every kind has its own status and at least one code', () => {
  const kinds = Object.values(errorCodes).map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(Object.keys(statusOf)));
  expect(new Set(Object.values(statusOf)).size).toBe(Object.keys(statusOf).length);
});

it('every message is a sentence', () => {
  for (const { message } of Object.values(errorCodes)) expect(message).toMatch(/^[A-Z].+\.$/);
});

function codesThrownIn(source: string): string[] {
  // An error class contains its codes outside the constructor call.
  if (source.includes('extends PortalError')) return codesNamedIn(source);
  return [...source.matchAll(/\b(\w+)\(/g)].flatMap(({ 1: maker = '', index }) => {
    const byDefault = makers.get(maker);
    if (byDefault === undefined) return [];
    const named = codesNamedIn(argumentsAt(source, index + maker.length));
    return named.length === 0 && byDefault !== null ? [byDefault] : named;
  });
}

const codesNamedIn = (text: string): string[] =>
  [...text.matchAll(/'([A-Z_]+)'/g)].flatMap(({ 1: code = '' }) => (table.has(code) ? [code] : []));

/** The arguments of a call, from the opening to the closing bracket. */
function argumentsAt(source: string, start: number): string {
  let depth = 0;
  for (const { 0: found, index } of source.slice(start).matchAll(/'(?:[^'\\\n]|\\.)*'|[()]/g)) {
    if (found === '(') depth++;
    else if (found === ')') depth--;
    if (depth === 0 && found === ')') return source.slice(start, start + index);
  }
  return '';
}
