import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { newId } from '@portal/domain/ids';
import { Secret } from '@portal/domain/secret';
import { openSessionTokens } from './session-token.ts';

const key = (id: string, fill: number) => ({ id, bytes: new Secret(Buffer.alloc(32, fill)) });
const claims = { sub: newId(), tid: newId(), sid: newId(), ver: 3 };
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const forge = (header: object, payload: object, secret: Buffer) => {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

describe('a session token', () => {
  const tokens = openSessionTokens([key('one', 1)]);

  it('returns the claims it was issued with, and lasts 30 days', () => {
    const token = tokens.issue(claims);
    expect(tokens.read(token)).toEqual(claims);
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      iat: number;
      exp: number;
    };
    expect(payload.exp - payload.iat).toBe(30 * 24 * 60 * 60);
  });

  it('is refused once it has expired, even if it was read before', () => {
    vi.useFakeTimers();
    const token = tokens.issue(claims);
    expect(tokens.read(token)).toEqual(claims);
    vi.advanceTimersByTime(31 * 24 * 60 * 60 * 1_000);
    expect(tokens.read(token)).toBeNull();
    vi.useRealTimers();
  });

  it('is verified with every configured key and signed with the first', () => {
    const old = tokens.issue(claims);
    const rotated = openSessionTokens([key('two', 2), key('one', 1)]);
    expect(rotated.read(old)).toEqual(claims);
    expect(tokens.read(rotated.issue(claims))).toBeNull();
  });

  it.each([
    ['no token', ''],
    ['rubbish', 'a.b.c'],
    ['another algorithm', forge({ alg: 'none', typ: 'JWT', kid: 'one' }, claims, Buffer.alloc(32, 1))],
    ['a header we do not write', forge({ alg: 'HS256', kid: 'one' }, claims, Buffer.alloc(32, 1))],
    ['another key', forge({ alg: 'HS256', typ: 'JWT', kid: 'one' }, claims, Buffer.alloc(32, 9))],
    ['claims that are none', forge({ alg: 'HS256', typ: 'JWT', kid: 'one' }, { sub: 'x' }, Buffer.alloc(32, 1))],
    ['a signature cut short', tokens.issue(claims).slice(0, -2)],
  ])('is refused if it is %s', (_, token) => {
    expect(tokens.read(token)).toBeNull();
  });
});
