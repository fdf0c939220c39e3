import { expect, it } from 'vitest';
import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { bodyExample } from './every-route.ts';

const exampleOf = (example: Record<string, unknown>) =>
  bodyExample({
    method: 'POST',
    url: '/',
    config: { access: signedIn },
    schema: { body: z.looseObject({}).meta({ example }) },
  });

it.each([
  [
    { host: 'mail.example.org', port: 25 },
    { host: '127.0.0.1', port: 1 },
  ],
  [{ serverUrl: 'ldaps://dc.example.org' }, { serverUrl: 'ldap://127.0.0.1:1' }],
  [{ address: 'https://pve.example.org:8006' }, { address: 'https://127.0.0.1:1/' }],
  [{ address: 'pve.example.org' }, { address: '127.0.0.1:1' }],
  [{ statusUrl: 'http://cloud.example.org/status.php?a=1' }, { statusUrl: 'http://127.0.0.1:1/status.php?a=1' }],
  [
    { url: 'https://cal.example.org/a.ics', name: 'x' },
    { url: 'https://127.0.0.1:1/a.ics', name: 'x' },
  ],
  [
    { url: null, address: 7 },
    { url: null, address: 7 },
  ],
])('the example %o is redirected to a closed port', (example, redirected) => {
  expect(exampleOf(example)).toEqual(redirected);
});
