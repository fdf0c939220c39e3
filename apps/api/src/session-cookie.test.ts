import { expect, it } from 'vitest';
import { testConfig } from '@portal/testing/runtime';
import { sessionCookieName } from './session-cookie.ts';

it('prefixes the name of the session cookie if the service uses https', () => {
  const url = 'postgres://unused@127.0.0.1/unused';
  expect(sessionCookieName(testConfig(url))).toBe('portal_session');
  expect(sessionCookieName(testConfig(url, { PUBLIC_URL: 'https://portal.example.org' }))).toBe(
    '__Host-portal_session',
  );
});
