import { z } from 'zod';
import { normalizeUsername } from '../accounts/accounts.ts';
import { CaCertificatePem } from '../ca-certificates.ts';
import { Id } from '../ids.ts';
import { SecretInput, secretMask } from '../secret-input.ts';
import { lineOrNull, requiredLine } from '../text.ts';
import { canonicalDn, isValidDn } from './dn.ts';

/** An optional line: missing, null and blank all become null. */
const optionalLine = (max?: number) => lineOrNull(max).default(null);

const notADn = 'must be a distinguished name such as ou=People,dc=example,dc=org';
const isDnOrNull = (value: string | null): boolean => value === null || isValidDn(value);

// Longer than any name that directory servers accept by default.
const Dn = requiredLine(2_000).refine(isValidDn, notADn);

/** Accepts `ldap://` or `ldaps://`, a host and an optional port. All other settings have their own fields. */
function isServerUrl(value: string): boolean {
  if (!/^ldaps?:\/\/[^/?#@\s]+\/?$/i.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && url.hostname !== '' && url.port !== '0';
}

/** Removes duplicates by `identity` and keeps the first of each. */
const firstOfEach = (values: string[], identity: (value: string) => string): string[] =>
  [...new Map(values.toReversed().map((value) => [identity(value), value])).values()].toReversed();

const example = {
  serverUrl: 'ldaps://ldap.example.org',
  startTls: false,
  baseDn: 'dc=example,dc=org',
  bindDn: 'cn=portal,ou=Services,dc=example,dc=org',
  userFilter: '(objectClass=person)',
  syncIntervalMin: 60,
  isActive: true,
  includeDns: ['ou=People,dc=example,dc=org'],
  userExcludeList: ['scanner'],
  skipTlsVerify: false,
  caCertificatePem: null,
};

/**
 * A tenant's directory settings as an administrator enters them. A PUT replaces all of them but may keep the stored password.
 * `ReadableLdapConfigInput` also checks that the certificates can be parsed, which this package cannot do.
 */
export const LdapConfigInput = z
  .object({
    serverUrl: requiredLine(300)
      .refine(isServerUrl, 'must be ldap:// or ldaps:// with a host and, if needed, a port')
      .describe('`ldap://` or `ldaps://`, then the host and, if it is not 389 or 636, the port'),
    startTls: z.boolean().default(false).describe('Encrypts an `ldap://` connection with StartTLS'),
    baseDn: Dn.describe('Users and groups are searched for below this entry'),
    bindDn: optionalLine(2_000)
      .refine(isDnOrNull, notADn)
      .describe('Account used to read the directory; without it or its password the bind is anonymous'),
    bindPassword: SecretInput,
    userFilter: optionalLine(2_000).describe(
      'LDAP filter (RFC 4515) for the entries that are users; null means every person',
    ),
    syncIntervalMin: z.int().min(5).max(10_080).default(60).describe('Minutes between two synchronizations'),
    isActive: z
      .boolean()
      .default(true)
      .describe('If false, there is no automatic synchronization and no directory account can sign in'),
    includeDns: z
      .array(Dn)
      .max(200)
      .overwrite((dns) => firstOfEach(dns, canonicalDn))
      .default([])
      .describe(
        'Entries to synchronize: of a group its members, of any other entry its subtree; an empty list means everything below the base',
      ),
    userExcludeList: z
      .array(requiredLine(128))
      .max(5_000)
      .overwrite((names) => firstOfEach(names, normalizeUsername))
      .default([])
      .describe('Usernames that are not synchronized, regardless of case'),
    skipTlsVerify: z.boolean().default(false).describe('Accepts any certificate; for testing only'),
    caCertificatePem: CaCertificatePem,
  })
  .superRefine(({ serverUrl, startTls }, check) => {
    if (startTls && /^ldaps:/i.test(serverUrl))
      check.addIssue({ code: 'custom', path: ['startTls'], message: 'cannot be combined with ldaps://' });
  })
  .meta({ example: { ...example, bindPassword: 'a bind password' } });
export type LdapConfigInput = z.output<typeof LdapConfigInput>;

/** The settings as shown: nulls and empty lists while nothing is set, and a masked password. */
export const LdapConfig = z
  .object({
    serverUrl: z.string().nullable(),
    startTls: z.boolean().nullable(),
    baseDn: z.string().nullable(),
    bindDn: z.string().nullable(),
    bindPassword: z.literal(secretMask).nullable().describe('The mask if a password is stored, otherwise null'),
    userFilter: z.string().nullable(),
    syncIntervalMin: z.int().nullable(),
    isActive: z.boolean().nullable(),
    includeDns: z.array(z.string()),
    userExcludeList: z.array(z.string()),
    skipTlsVerify: z.boolean().nullable(),
    caCertificatePem: z.string().nullable(),
  })
  .meta({ id: 'LdapConfig', example: { ...example, bindPassword: secretMask } });
export type LdapConfig = z.output<typeof LdapConfig>;

export const LdapField = z.enum(['username', 'email', 'displayName', 'firstName', 'lastName']);
export type LdapField = z.output<typeof LdapField>;

// RFC 4512, 2.5: a name or a dotted number, followed by options.
const attributeDescription = /^([A-Za-z][A-Za-z0-9-]*|\d+(\.\d+)+)(;[A-Za-z0-9-]+)*$/;

/** Attributes that hold passwords, hashes or keys. Mappings must not use them, because users see the mapped values. */
const secretAttributes = new Set(
  [
    'userPassword',
    'unicodePwd',
    'ntPwdHistory',
    'lmPwdHistory',
    'dBCSPwd',
    'supplementalCredentials',
    'sambaNTPassword',
    'sambaLMPassword',
    'krbPrincipalKey',
    'ms-Mcs-AdmPwd',
    'msLAPS-Password',
    '2.5.4.35',
  ].map((name) => name.toLowerCase()),
);
const withoutOptions = (attribute: string): string => attribute.split(';', 1)[0] ?? attribute;

/** An additional attribute that can fill a field; it takes precedence over the defaults. */
export const LdapMappingInput = z
  .object({
    ldapAttribute: requiredLine(100)
      .regex(attributeDescription, 'must be the name of an attribute such as givenName')
      .refine(
        (attribute) => !secretAttributes.has(withoutOptions(attribute).toLowerCase()),
        'holds a secret, which must not appear in an account',
      ),
    field: LdapField,
  })
  .meta({ example: { ldapAttribute: 'givenName', field: 'firstName' } });
export type LdapMappingInput = z.output<typeof LdapMappingInput>;

/** Maps an attribute of an entry to a field of an account. The first mapping with a value wins. */
export const LdapMapping = z
  .object({ id: Id, ldapAttribute: z.string(), field: LdapField, isDefault: z.boolean() })
  .meta({
    id: 'LdapMapping',
    example: {
      id: '0198d3ca-2b3c-7d4e-8f5a-6b7c8d9e0f1a',
      ldapAttribute: 'givenName',
      field: 'firstName',
      isDefault: false,
    },
  });
export type LdapMapping = z.output<typeof LdapMapping>;

/** The mappings every tenant has. */
export const defaultMappings: readonly Pick<LdapMapping, 'ldapAttribute' | 'field'>[] = [
  { ldapAttribute: 'displayName', field: 'displayName' },
  { ldapAttribute: 'mail', field: 'email' },
  { ldapAttribute: 'sAMAccountName', field: 'username' },
];

/** The result of testing directory settings. */
export const LdapTest = z
  .object({
    ok: z.boolean(),
    serverType: z
      .enum(['active-directory', 'openldap', 'other'])
      .nullable()
      .describe('Null if the server was not reached'),
    userCount: z
      .int()
      .describe('Users that the filter finds below the base, before the include and exclude lists apply'),
    isCountComplete: z.boolean().describe('False if there are more users than could be counted in a few seconds'),
    sample: z
      .array(
        z.object({ username: z.string().nullable(), displayName: z.string().nullable(), mail: z.string().nullable() }),
      )
      .describe('At most ten users, as their accounts would look; the username is null if it cannot be derived'),
    error: z
      .object({
        kind: z.enum(['unreachable', 'credentials', 'certificate', 'baseDn', 'timeout', 'protocol']),
        message: z.string().describe('One sentence that says what is wrong'),
      })
      .optional(),
  })
  .meta({
    id: 'LdapTest',
    example: {
      ok: true,
      serverType: 'openldap',
      userCount: 240,
      isCountComplete: true,
      sample: [{ username: 'anna.schmidt', displayName: 'Anna Schmidt', mail: 'anna.schmidt@example.org' }],
    },
  });
export type LdapTest = z.output<typeof LdapTest>;

/** A group or unit that the directory has now; an administrator picks from these for the include list. */
export const LiveGroup = z.object({ dn: z.string(), name: z.string(), kind: z.enum(['group', 'ou']) }).meta({
  id: 'LiveGroup',
  example: { dn: 'cn=Accounting,ou=Groups,dc=example,dc=org', name: 'Accounting', kind: 'group' },
});
export type LiveGroup = z.output<typeof LiveGroup>;
