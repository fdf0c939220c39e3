import { type Directory, openDirectory } from '@portal/connectors/ldap/directory';
import { LdapFailure } from '@portal/connectors/ldap/failure';
import { ldapAddress, type LdapServer } from '@portal/connectors/ldap/server';
import { SECOND } from '@portal/domain/time';

/** Does something at a directory while a person waits for it. Throws an LdapFailure, also when all of it takes too long. */
export async function askDirectory<T>(
  server: LdapServer,
  work: (directory: Directory) => Promise<T>,
  timeoutMs = 15 * SECOND,
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await using directory = await openDirectory(server, { signal, connectTimeoutMs: 8 * SECOND });
    return await work(directory);
  } catch (error) {
    if (error instanceof LdapFailure || !signal.aborted) throw error;
    throw new LdapFailure(
      'timeout',
      ldapAddress(server.url),
      `did not answer within ${Math.round(timeoutMs / SECOND)} seconds.`,
    );
  }
}
