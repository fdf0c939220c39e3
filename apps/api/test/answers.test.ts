import { expect, it } from 'vitest';
import { testApp } from '../testing/app.ts';
import { builtPages } from '../testing/built-pages.ts';
import { addressOf, methodOf } from './every-route.ts';

const WEB_DIR = await builtPages({ 'index.html': '<!doctype html>' });
const plain = await testApp({ env: { WEB_DIR } });
const https = await testApp({ env: { WEB_DIR, PUBLIC_URL: 'https://portal.example.org' } });

it.each([
  ['http', plain],
  ['https', https],
] as const)('every answer carries the security headers, under %s', async (scheme, { app, request, make }) => {
  const as = await make.user({ role: 'SUPER_ADMIN' });
  for (const route of app.routeList) {
    for (const who of [{ as }, {}]) {
      const { headers } = await request({ method: methodOf(route), url: addressOf(route.url), ...who });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'(;|$)/),
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const isPublic = /^\/(docs\/.*|openapi\.json|app|app\/\*|reset-password|confirm-email)$/.test(route.url);
      if (!isPublic) expect({ url: route.url, cache: headers['cache-control'] }).toMatchObject({ cache: 'no-store' });
      expect(headers['strict-transport-security']).toBe(scheme === 'https' ? 'max-age=31536000' : undefined);
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers['server']).toBeUndefined();
    }
  }
});
