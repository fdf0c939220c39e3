import type { Directory } from '@portal/connectors/ldap/directory';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress, type LdapServer } from '@portal/connectors/ldap/server';
import type { LdapConfigInput, LdapTest } from '@portal/domain/directory/config';
import { attributesOf, type DirectoryPerson, fieldSources, personOf } from '@portal/domain/directory/person';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { askDirectory } from './ask-directory.ts';
import { recordAudit } from './audit.ts';
import { directoryIdOf } from './directory-id.ts';
import { checkFilter } from './ldap-config.ts';
import { listLdapMappings } from './ldap-mappings.ts';
import { ldapServerWith, storedLdapConfig } from './stored-ldap-config.ts';
import { userSearch } from './user-search.ts';

const sampleSize = 10;
/** Time limit for counting users. Beyond it the answer says that the count is incomplete. */
const countingMs = 8 * SECOND;

/**
 * Tests directory settings before they are saved: signs in, counts the users that the filter finds, and shows some of them as
 * accounts. Failures of the directory are part of the answer. A blank password stands for the stored one. Throws 400
 * `SECRET_REQUIRED` if that was stored for another server, and 429 after ten tests in a minute.
 */
export async function testLdap(ctx: UserContext, input: LdapConfigInput): Promise<LdapTest> {
  checkFilter(input);
  try {
    const server = await serverToTest(ctx, input);
    const sources = fieldSources(await listLdapMappings(ctx));
    return await askDirectory(ctx, server, async (directory) => {
      const search = userSearch(directory, input);
      const sample: LdapTest['sample'] = [];
      for await (const page of directory.pages({
        ...search,
        attributes: attributesOf(sources),
        pageSize: sampleSize,
      })) {
        sample.push(
          ...page.slice(0, sampleSize).map((entry) => toSample(personOf(entry, directoryIdOf(entry), sources))),
        );
        break;
      }
      return { ok: true, serverType: directory.serverType, ...(await countUsers(directory, search)), sample };
    });
  } catch (error) {
    if (!(error instanceof LdapError)) throw error;
    const { kind, message } = error;
    return { ok: false, serverType: null, userCount: 0, isCountComplete: false, sample: [], error: { kind, message } };
  }
}

/** Counts and records the test, then returns the server of these settings with its password. */
async function serverToTest(ctx: UserContext, input: LdapConfigInput): Promise<LdapServer> {
  const stored = await ctx.read(storedLdapConfig);
  const server = ldapServerWith(ctx, stored, input, input.bindPassword);
  const { host, port } = ldapAddress(server.url);
  await beginSettingsTest(ctx, {
    action: 'ldap.test',
    recordAudit,
    subject: 'directory',
    server: `${host}:${port}`,
    input: input.bindPassword,
    hasStoredSecret: Boolean(stored?.bindPassword),
  });
  return server;
}

async function countUsers(
  directory: Directory,
  search: ReturnType<typeof userSearch>,
): Promise<Pick<LdapTest, 'userCount' | 'isCountComplete'>> {
  const end = performance.now() + countingMs;
  let userCount = 0;
  // 1.1 asks for no attribute at all (RFC 4511, 4.5.1.8).
  for await (const page of directory.pages({ ...search, attributes: ['1.1'] })) {
    userCount += page.length;
    if (performance.now() > end) return { userCount, isCountComplete: false };
  }
  return { userCount, isCountComplete: true };
}

const toSample = ({ username, displayName, email }: DirectoryPerson): LdapTest['sample'][number] => ({
  username,
  displayName,
  mail: email,
});
