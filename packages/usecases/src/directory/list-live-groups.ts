import type { Directory } from '@portal/connectors/ldap/directory';
import type { LdapEntry } from '@portal/connectors/ldap/entry';
import { escapeFilterValue } from '@portal/connectors/ldap/filter';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import type { LiveGroup } from '@portal/domain/directory/config';
import { parseDn } from '@portal/domain/directory/dn';
import { groupFilter, isGroup } from '@portal/domain/directory/groups';
import { upstream } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { askDirectory } from './ask-directory.ts';
import { configuredDirectory, ldapServerOf } from './stored-ldap-config.ts';

/** More than a user reads; a search narrows the list. */
const maxGroups = 200;

// Besides units, Active Directory has containers with accounts, such as CN=Users. It marks its internal containers as advanced.
const unitFilter = '(objectClass=organizationalUnit)(&(objectClass=container)(!(showInAdvancedViewOnly=TRUE)))';

/**
 * Lists the current groups and organizational units of the directory, by name, at most 200; `search` is part of a name. Throws 409
 * `DIRECTORY_NOT_CONFIGURED`, 502 `DIRECTORY_UNAVAILABLE` with a plain reason, and 429 if too many requests already wait.
 */
export async function listLiveGroups(
  ctx: UserContext,
  { search = '' }: { search?: string | undefined },
): Promise<LiveGroup[]> {
  const stored = await configuredDirectory(ctx);
  try {
    const server = ldapServerOf(ctx, stored);
    return await askDirectory(ctx, server, (directory) => findGroups(directory, stored.baseDn, search));
  } catch (error) {
    if (error instanceof LdapError) throw upstream('DIRECTORY_UNAVAILABLE', error.message, { cause: error });
    throw error;
  }
}

async function findGroups(directory: Directory, base: string, search: string): Promise<LiveGroup[]> {
  const part = search === '' ? '*' : `*${escapeFilterValue(search)}*`;
  const filter = `(&(|${groupFilter}${unitFilter})(|(cn=${part})(ou=${part})))`;
  const found: LiveGroup[] = [];
  for await (const page of directory.pages({ base, scope: 'sub', filter, attributes: ['objectClass'] })) {
    found.push(...page.slice(0, maxGroups - found.length).map(toLiveGroup));
    if (found.length === maxGroups) break;
  }
  return found.toSorted((a, b) => a.name.localeCompare(b.name, 'de') || a.dn.localeCompare(b.dn));
}

const toLiveGroup = (entry: LdapEntry): LiveGroup => ({
  dn: entry.dn,
  name:
    parseDn(entry.dn)?.[0]
      ?.map(({ value }) => value)
      .join(' + ') ?? entry.dn,
  kind: isGroup(entry) ? 'group' : 'ou',
});
