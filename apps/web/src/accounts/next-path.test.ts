import { describe, expect, it } from 'vitest';
import { nextPath } from './next-path.ts';

describe('nextPath', () => {
  it.each([
    '/app',
    '/app/me?tab=1',
    '/app/tabs/0198d3c4-1c2d-7e3f-8a4b-5c6d7e8f9a0b#top',
    '/app/sign-in?next=%2F%2Fa.example',
  ])('leads back to %s', (path) => {
    expect(nextPath(path)).toBe(path);
    expect(new URL(path, 'https://portal.example').host).toBe('portal.example');
  });

  it.each([
    undefined,
    '',
    'app',
    'https://evil.example',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/app\\..\\evil',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\u0000/evil.example',
    'javascript:alert(1)',
    ' /app',
  ])('does not follow %j', (path) => {
    expect(nextPath(path)).toBe('/app');
  });

  it('has another place to go if the page names one', () => {
    expect(nextPath(undefined, '/app/me/security')).toBe('/app/me/security');
  });
});
