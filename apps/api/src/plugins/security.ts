import type { Config } from '@portal/platform/config';

const yearSec = 365 * 24 * 60 * 60;

/** Headers of every answer; a route may replace one. Built once: per request they would cost more than the rest of a small answer. */
export function securityHeaders(config: Config): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    ...(config.http.publicUrl.startsWith('https:') && { 'strict-transport-security': `max-age=${yearSec}` }),
  };
}
