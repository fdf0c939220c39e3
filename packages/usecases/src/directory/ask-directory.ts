import { type Directory, openDirectory } from '@portal/connectors/ldap/directory';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress, type LdapServer } from '@portal/connectors/ldap/server';
import { busy } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { callLimits } from '@portal/platform/limits';
import { openSemaphore } from '@portal/platform/semaphore';

/** A page with few attributes has some hundred kilobytes. This limit stops a server that never stops sending. */
const maxAnswerBytes = 4 * 1024 * 1024;

const inSlot = openSemaphore({
  ...callLimits.directoryQuestions,
  refusal: () =>
    busy('The directory is already being searched or tested several times. Please try again in a moment.', 15),
});

/**
 * Runs `work` on a tenant's directory while a user waits. Throws an LdapError, also after `timeoutMs`. Throws 429 if too many requests
 * of the tenant already wait, or if half of the time passes without a free slot: the other half is enough for an answer.
 */
export const askDirectory = <T>(
  { tenantId }: { tenantId: string },
  server: LdapServer,
  work: (directory: Directory) => Promise<T>,
  timeoutMs = 15 * SECOND,
): Promise<T> => {
  const askedAt = performance.now();
  const remainingMs = () => Math.max(0, Math.round(askedAt + timeoutMs - performance.now()));
  return inSlot(() => askNow(server, work, remainingMs()), { key: tenantId, until: askedAt + timeoutMs / 2 });
};

async function askNow<T>(
  server: LdapServer,
  work: (directory: Directory) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await using directory = await openDirectory(server, { signal, connectTimeoutMs: 8 * SECOND, maxAnswerBytes });
    return await work(directory);
  } catch (error) {
    if (error instanceof LdapError || !signal.aborted) throw error;
    throw new LdapError(
      'timeout',
      ldapAddress(server.url),
      `did not answer within ${Math.round(timeoutMs / SECOND)} seconds.`,
    );
  }
}
