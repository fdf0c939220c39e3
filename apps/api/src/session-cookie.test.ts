import { expect, it } from 'vitest';
import { testConfig } from '@portal/testing/runtime';
import { sessionCookieName } from './session-cookie.ts';

it('names the session cookie by whether the service is reached by https', () => {
  const url = 'postgres://nobody@127.0.0.1/nothing';
  expect(sessionCookieName(testConfig(url))).toBe('portal_session');
  expect(sessionCookieName(testConfig(url, { PUBLIC_URL: 'https://portal.example.org' }))).toBe(
    '__Host-portal_session',
  );
});
