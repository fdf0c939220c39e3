import { describe, expect, it } from 'vitest';
import { checkedServer, checkSecret, serverAddress, ServerInput, serverTarget } from './servers.ts';

const parse = (more: object) =>
  ServerInput.parse({
    kind: 'virtualization',
    name: 'Nord',
    address: 'https://pve1.example.org',
    authMethod: 'token',
    tokenId: 'mon@pve!portal',
    tokenSecret: 's',
    ...more,
  });

describe('the address of a server', () => {
  it.each([
    ['virtualization', 'https://PVE1.example.org', 'https://pve1.example.org:8006'],
    ['backup', 'https://pbs/', 'https://pbs:8007'],
    ['mail-gateway', 'https://[2001:DB8::1]', 'https://[2001:db8::1]:8006'],
    ['backup', 'https://pbs:443', 'https://pbs:443'],
    ['backup', 'HTTPS://10.0.0.5:8443/', 'https://10.0.0.5:8443'],
  ] as const)('of a %s server %s is %s', (kind, address, written) => {
    expect(serverAddress({ kind, address })).toBe(written);
  });
  it.each([
    'http://pve1',
    'pve1:8006',
    'https://',
    'https://pve1/api2',
    'https://a:b@pve1',
    'https://pve1?x',
    'https://pve1#x',
    'https://pve1:0',
    'https://pve1:99999',
    'https://pve 1',
    '',
    'ftp://pve1',
    'https://pve1\\@evil',
  ])('is not %j', (address) => {
    expect(ServerInput.safeParse({ ...parse({}), address }).success).toBe(false);
  });
});

describe('a form', () => {
  it.each<[string, object, string]>([
    ['a mail gateway with a token', { kind: 'mail-gateway' }, 'TOKEN_NOT_SUPPORTED'],
    ['a token without a realm', { tokenId: 'mon!portal' }, 'VALIDATION_FAILED'],
    ['a token without a name', { tokenId: 'mon@pve' }, 'VALIDATION_FAILED'],
    ['no token', { tokenId: '' }, 'VALIDATION_FAILED'],
    ['a user without a realm', { authMethod: 'password', username: 'root', password: 'x' }, 'VALIDATION_FAILED'],
    ['no user', { authMethod: 'password', password: 'x' }, 'VALIDATION_FAILED'],
    [
      'a pasted token with the other separator',
      { tokenId: null, tokenSecret: 'mon@pve!portal:0f7d' },
      'VALIDATION_FAILED',
    ],
    ['a pasted token of another name', { tokenSecret: 'else@pve!portal=0f7d' }, 'VALIDATION_FAILED'],
  ])('with %s is refused', (_, more, code) => {
    expect(() => checkedServer(parse(more))).toThrow(expect.objectContaining({ code }));
  });

  it('splits a pasted token', () => {
    expect(checkedServer(parse({ tokenId: null, tokenSecret: 'PVEAPIToken=mon@pve!portal=0f7d' }))).toMatchObject({
      tokenId: 'mon@pve!portal',
      tokenSecret: '0f7d',
    });
    expect(checkedServer(parse({ kind: 'backup', tokenId: null, tokenSecret: 'mon@pbs!portal:0f7d' }))).toMatchObject({
      tokenId: 'mon@pbs!portal',
      tokenSecret: '0f7d',
    });
  });

  it('clears the unused method', () => {
    expect(checkedServer(parse({ authMethod: 'password', username: 'mon@pam', password: 'x' }))).toMatchObject({
      tokenId: null,
      tokenSecret: null,
    });
    expect(checkedServer(parse({ username: 'mon@pam', password: 'x' }))).toMatchObject({
      username: null,
      password: null,
    });
  });

  it.each<[string, object, boolean, boolean]>([
    ['nothing', { tokenSecret: undefined }, false, false],
    ['a blank', { tokenSecret: '' }, false, false],
    ['nothing, with a stored secret', { tokenSecret: '' }, true, true],
    ['null, with a stored secret', { tokenSecret: null }, true, false],
    ['a new secret', {}, false, true],
  ])('needs a secret: %s', (_, more, hasStored, passes) => {
    const check = () => checkSecret(parse(more), hasStored);
    if (passes) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'SECRET_REQUIRED' }));
  });

  it('names the target of its secret', () => {
    expect(serverTarget(parse({ verifyTls: false }))).toEqual({
      scheme: 'https',
      host: 'pve1.example.org',
      port: 8006,
      account: 'mon@pve!portal',
      encryption: 'tls',
      verifiesCertificate: false,
      authorities: null,
    });
  });
});
