import type { Directory } from '@portal/connectors/ldap/directory';
import { LdapFailure } from '@portal/connectors/ldap/failure';
import type { LdapServer } from '@portal/connectors/ldap/server';
import type { LdapConfigInput, LdapTest } from '@portal/domain/directory-config';
import { attributesOf, type DirectoryPerson, fieldSources, personOf } from '@portal/domain/directory-person';
import { Secret } from '@portal/domain/secret';
import { secretChange } from '@portal/domain/secret-input';
import { SECOND } from '@portal/domain/time';
import { recordAudit } from '../audit/record-audit.ts';
import type { Ctx } from '../run/context.ts';
import { askDirectory } from './ask-directory.ts';
import { checkFilter } from './ldap-config.ts';
import { listLdapMappings } from './ldap-mappings.ts';
import { bindPasswordOf, ldapHostOf, storedLdapConfig } from './stored-ldap-config.ts';
import { userSearch } from './user-search.ts';

const sampleSize = 10;
/** How long users are counted; with more of them than fit in, the count says so. */
const countingMs = 8 * SECOND;

/**
 * Tries directory settings before they are saved: signs in, counts the users the filter finds and shows some as their accounts
 * would be. Trouble with the directory is part of the answer. A blank password takes the saved one.
 */
export async function testLdap(ctx: Ctx, input: LdapConfigInput): Promise<LdapTest> {
  checkFilter(input);
  try {
    const server = await serverToTry(ctx, input);
    const sources = fieldSources(await listLdapMappings(ctx));
    return await askDirectory(server, async (directory) => {
      const search = userSearch(directory, input);
      const sample: LdapTest['sample'] = [];
      for await (const page of directory.pages({
        ...search,
        attributes: attributesOf(sources),
        pageSize: sampleSize,
      })) {
        sample.push(...page.map((entry) => toSample(personOf(entry, sources))));
        break;
      }
      return { ok: true, serverType: directory.serverType, ...(await countUsers(directory, search)), sample };
    });
  } catch (error) {
    if (!(error instanceof LdapFailure)) throw error;
    const { kind, message } = error;
    return { ok: false, serverType: null, userCount: 0, isCountComplete: false, sample: [], error: { kind, message } };
  }
}

/** The server of these settings; the audit log names one that gets the saved password though it was not saved for it. */
async function serverToTry(ctx: Ctx, input: LdapConfigInput): Promise<LdapServer> {
  const { serverUrl, bindDn } = input;
  const server = { ...ldapHostOf(input), bindDn };
  const change = secretChange(input.bindPassword);
  if (change.kind === 'remove') return { ...server, bindPassword: null };
  if (change.kind === 'set') return { ...server, bindPassword: new Secret(change.value) };
  const saved = await ctx.read(storedLdapConfig);
  if (!saved || bindDn === null) return { ...server, bindPassword: null };
  const bindPassword = bindPasswordOf(ctx, { ...saved, serverUrl });
  if (bindPassword !== null && saved.serverUrl !== serverUrl) {
    await ctx.tx((tx) =>
      recordAudit(tx, ctx, {
        action: 'ldap.test',
        tenantId: ctx.tenantId,
        summary: `Tried the stored directory password at the server ${serverUrl}.`,
      }),
    );
  }
  return { ...server, bindPassword };
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
