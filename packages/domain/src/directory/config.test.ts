import { describe, expect, it } from 'vitest';
import { LdapConfigInput, LdapMappingInput } from './config.ts';

const needed = { serverUrl: 'ldap://ldap.example.org', baseDn: 'dc=example,dc=org' };
const problemsOf = (fields: object): string[] =>
  LdapConfigInput.safeParse({ ...needed, ...fields }).error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('directory settings', () => {
  it('need a server and a base; the rest has defaults', () => {
    expect(LdapConfigInput.parse(needed)).toEqual({
      ...needed,
      startTls: false,
      bindDn: null,
      userFilter: null,
      syncIntervalMin: 60,
      isActive: true,
      includeDns: [],
      userExcludeList: [],
      skipTlsVerify: false,
      caCertificatePem: null,
    });
    expect(problemsOf({ serverUrl: undefined, baseDn: undefined })).toEqual(['serverUrl', 'baseDn']);
  });

  it.each([
    'ldap://ldap.example.org',
    'ldaps://ldap.example.org:10636',
    'LDAPS://dc1.werke.local/',
    'ldap://192.0.2.7:389',
    'ldap://[2001:db8::7]:389',
    'ldap://münchen.example.org',
  ])('take the server %s', (serverUrl) => expect(problemsOf({ serverUrl })).toEqual([]));

  it.each([
    '',
    'ldap.example.org',
    'http://ldap.example.org',
    'ldapi:///var/run/slapd',
    'ldap://',
    'ldap://:389',
    'ldap://user:secret@ldap.example.org',
    'ldap://ldap.example.org/dc=example',
    'ldap://ldap.example.org?x',
    'ldap://ldap.example.org#x',
    'ldap://ldap.example.org:0',
    'ldap://ldap.example.org:99999',
    'ldap://a.example.org ldap://b.example.org',
    'ldap://a\u0000b',
    'javascript:alert(1)',
  ])('refuse the server "%s"', (serverUrl) => expect(problemsOf({ serverUrl })).toContain('serverUrl'));

  it.each<[string, object]>([
    ['baseDn', { baseDn: 'example.org' }],
    ['baseDn', { baseDn: ' ' }],
    ['baseDn', { baseDn: null }],
    ['bindDn', { bindDn: 'portal@example.org' }],
    ['includeDns.1', { includeDns: ['ou=a,dc=b', 'everybody'] }],
    ['includeDns', { includeDns: Array.from({ length: 201 }, (_, n) => `ou=${n},dc=b`) }],
    ['userExcludeList.0', { userExcludeList: [''] }],
    ['userExcludeList', { userExcludeList: Array.from({ length: 5_001 }, (_, n) => `user${n}`) }],
    ['syncIntervalMin', { syncIntervalMin: 4 }],
    ['syncIntervalMin', { syncIntervalMin: 10_081 }],
    ['syncIntervalMin', { syncIntervalMin: 7.5 }],
    ['startTls', { serverUrl: 'ldaps://ldap.example.org', startTls: true }],
    ['caCertificatePem', { caCertificatePem: 'no certificate' }],
    ['isActive', { isActive: 'yes' }],
  ])('refuse a wrong %s', (path, fields) => expect(problemsOf(fields)).toContain(path));

  it('keep the first spelling of duplicates', () => {
    const { includeDns, userExcludeList } = LdapConfigInput.parse({
      ...needed,
      includeDns: ['OU=People, dc=example', 'ou=people,dc=example', 'ou=other,dc=example'],
      userExcludeList: ['Max.Meier', 'max.meier', ' scanner '],
    });
    expect(includeDns).toEqual(['OU=People, dc=example', 'ou=other,dc=example']);
    expect(userExcludeList).toEqual(['Max.Meier', 'scanner']);
  });

  it('store a blank text as null', () => {
    expect(LdapConfigInput.parse({ ...needed, bindDn: ' ', userFilter: '', caCertificatePem: '\n' })).toMatchObject({
      bindDn: null,
      userFilter: null,
      caCertificatePem: null,
    });
  });
});

describe('a mapping', () => {
  it.each(['givenName', 'extensionAttribute7', '2.5.4.42', 'cn;lang-de', 'x-company-Mail'])(
    'takes the attribute %s',
    (ldapAttribute) => expect(LdapMappingInput.safeParse({ ldapAttribute, field: 'firstName' }).success).toBe(true),
  );

  it.each([
    '',
    '*',
    '+',
    'given name',
    '1.',
    'mail)(uid=*',
    'ümlaut',
    'userPassword',
    'USERPASSWORD;binary',
    'unicodePwd',
  ])('refuses the attribute "%s"', (ldapAttribute) =>
    expect(LdapMappingInput.safeParse({ ldapAttribute, field: 'firstName' }).success).toBe(false),
  );
});
