import type { Directory } from '@portal/connectors/ldap/directory';
import type { StoredLdapConfig } from './stored-ldap-config.ts';

/** The search for a tenant's users, with its own filter or by default for all persons. */
export const userSearch = (
  { serverType }: Pick<Directory, 'serverType'>,
  { baseDn, userFilter }: Pick<StoredLdapConfig, 'baseDn' | 'userFilter'>,
) => ({ base: baseDn, scope: 'sub' as const, filter: userFilter ?? standardFilter(serverType) });

// Active Directory also treats computers as users. Other servers lack the class, and OpenLDAP finds nothing if a filter negates it.
const standardFilter = (serverType: Directory['serverType']): string =>
  serverType === 'active-directory' ? '(&(objectClass=user)(!(objectClass=computer)))' : '(objectClass=person)';
