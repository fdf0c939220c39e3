import type { Directory } from '@portal/connectors/ldap/directory';
import type { StoredLdapConfig } from './stored-ldap-config.ts';

/** Where and what a tenant's users are: its own filter, else everything the server holds a person for. */
export const userSearch = (
  { serverType }: Pick<Directory, 'serverType'>,
  { baseDn, userFilter }: Pick<StoredLdapConfig, 'baseDn' | 'userFilter'>,
) => ({ base: baseDn, scope: 'sub' as const, filter: userFilter ?? standardFilter(serverType) });

// To Active Directory a computer is a user, too. Other servers know no such class, and OpenLDAP finds nothing by its absence.
const standardFilter = (serverType: Directory['serverType']): string =>
  serverType === 'active-directory' ? '(&(objectClass=user)(!(objectClass=computer)))' : '(objectClass=person)';
