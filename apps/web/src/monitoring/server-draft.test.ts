import { describe, expect, it } from 'vitest';
import { bodyOf, completed, draftOf } from './server-draft.ts';

describe('the form of a server', () => {
  it.each([
    ['pve1.example.org', 'https://pve1.example.org'],
    [' https://pve1.example.org:8006/#v1:0:18 ', 'https://pve1.example.org:8006'],
    ['10.0.0.5:8007', 'https://10.0.0.5:8007'],
    ['https://proxy.example.org:443/', 'https://proxy.example.org:443'],
    ['[fd00::1]:8006', 'https://[fd00::1]:8006'],
    // The service says what is wrong with these.
    ['http://pve1', 'http://pve1'],
    ['https://a:b@pve1', 'https://a:b@pve1'],
    ['no address', 'no address'],
    ['', ''],
  ])('takes the address %j as %j', (typed, expected) => expect(completed(typed)).toBe(expected));

  it('sends only what belongs to the method, and no token to a mail gateway', () => {
    const draft = { ...draftOf(null), tokenId: 'a@pve!b', username: 'a@pmg', secret: ' s ' };
    expect(bodyOf(draft)).toMatchObject({ tokenId: 'a@pve!b', tokenSecret: 's', username: null, password: null });
    expect(bodyOf({ ...draft, kind: 'mail-gateway' })).toMatchObject({
      authMethod: 'password',
      tokenId: null,
      tokenSecret: null,
      username: 'a@pmg',
      password: ' s ',
    });
  });
});
