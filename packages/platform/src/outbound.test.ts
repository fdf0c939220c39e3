import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { LdapConfigInput } from '@portal/domain/directory/config';
import { SmtpTestInput } from '@portal/domain/mail-settings/smtp-config';
import { testRuntime } from '@portal/testing/runtime';
import { testLdap } from '@portal/usecases/directory/test-ldap';
import { testSmtpConfig } from '@portal/usecases/mail-settings/test-smtp-config';

// Accepts connections and ends them, so that a call that gets through fails with a lost connection.
let heard = 0;
const canary = createServer((socket) => {
  heard += 1;
  socket.on('error', () => undefined);
  socket.end();
});
canary.listen(0, '127.0.0.1');
await once(canary, 'listening');
afterAll(() => canary.close());
const { port } = canary.address() as AddressInfo;

const mailServer = (host: string) =>
  SmtpTestInput.parse({
    host,
    port,
    security: 'none',
    username: null,
    fromAddress: 'portal@example.org',
    verifyTls: false,
    to: 'anna@example.org',
  });
const directory = (host: string) =>
  LdapConfigInput.parse({ serverUrl: `ldap://${host}:${port}`, baseDn: 'dc=example,dc=org' });

/** The answers to an administrator who tests a host as mail server and as directory, and whether either call got through. */
async function tried(runtime: Awaited<ReturnType<typeof testRuntime>>, host: string) {
  const { make } = runtime;
  const { id: tenantId } = await make.tenant();
  const ctx = await runtime.signedIn(await make.user({ tenantId, role: 'ADMIN' }));
  heard = 0;
  const mail = await testSmtpConfig(ctx, mailServer(host)).then(
    () => '',
    (error: Error) => error.message,
  );
  const byMail = heard;
  const { error } = await testLdap(ctx, directory(host));
  return { mail, directory: `${error?.kind} ${error?.message}`, calls: [byMail > 0, heard > byMail] };
}

const refusal = /is not at an address that the portal may call/;
const allowing = await testRuntime();
const denying = await testRuntime({ OUTBOUND_PRIVATE: 'deny' });
const excepting = await testRuntime({ OUTBOUND_PRIVATE: 'deny', OUTBOUND_ALLOW_HOSTS: `localhost:${port}` });

describe('the mail server and the directory of a tenant', () => {
  it.each(['127.0.0.1', 'localhost'])('may be %s', async (host) => {
    expect(await tried(allowing, host)).toEqual({
      mail: expect.stringContaining('broke off'),
      directory: expect.stringContaining('broke off'),
      calls: [true, true],
    });
  });

  it.each(['169.254.169.254', '100.100.100.200', '0.0.0.0', '2852039166'])('are never at %s', async (host) => {
    expect(await tried(allowing, host)).toEqual({
      mail: expect.stringMatching(refusal),
      directory: expect.stringMatching(refusal),
      calls: [false, false],
    });
  });

  it.each(['127.0.0.1', '10.0.0.1'])('are not at %s if private addresses are denied', async (host) => {
    const answer = await tried(denying, host);
    expect(answer).toEqual({
      mail: expect.stringMatching(refusal),
      directory: expect.stringMatching(/^unreachable .* is not at an address/),
      calls: [false, false],
    });
  });

  it('may be at an address that the operator allows', async () => {
    expect(await tried(excepting, 'localhost')).toMatchObject({ calls: [true, true] });
    expect(await tried(excepting, '127.0.0.1')).toMatchObject({ calls: [false, false] });
  });
});
