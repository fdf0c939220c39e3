import { describe, expect, it } from 'vitest';
import { bodyOf, draftOf, nameOfDn, namesIn } from './settings-draft.ts';

const stored = {
  serverUrl: 'ldap://ldap.example.org',
  startTls: true,
  baseDn: 'dc=example,dc=org',
  bindDn: 'cn=portal,dc=example,dc=org',
  bindPassword: '********' as const,
  userFilter: null,
  syncIntervalMin: 60,
  isActive: true,
  includeDns: [],
  userExcludeList: ['scanner', 'printer'],
  skipTlsVerify: false,
  caCertificatePem: null,
};

describe('the settings of a directory', () => {
  it('come back as they were, with the password kept', () => {
    expect(bodyOf(draftOf(stored))).toEqual({ ...stored, bindPassword: '', userFilter: '', caCertificatePem: '' });
  });

  it('have no StartTLS where the address encrypts, and no password for an anonymous bind', () => {
    const body = bodyOf({ ...draftOf(stored), serverUrl: 'LDAPS://ldap.example.org', bindDn: ' ' });
    expect(body).toMatchObject({ startTls: false, bindPassword: null });
  });
});

describe('names', () => {
  it('of the exclude list stand one a line', () => {
    expect(namesIn(' scanner\r\n\n printer ')).toEqual(['scanner', 'printer']);
  });

  it.each([
    ['cn=Sales,ou=Groups,dc=example,dc=org', 'Sales'],
    ['cn=A\\,B\\+C,dc=example', 'A,B+C'],
    ['nothing', 'nothing'],
  ])('of %s', (dn, name) => {
    expect(nameOfDn(dn)).toBe(name);
  });
});
