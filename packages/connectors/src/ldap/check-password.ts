import { LdapConnection } from './connection.ts';
import { LdapError, resultCode } from './ldap-error.ts';
import { ldapAddress, type LdapHost } from './server.ts';

/**
 * Result codes that mean "wrong name or password". Active Directory answers invalidCredentials for locked, disabled
 * and expired accounts; other servers answer one of the other codes.
 */
const refusals: ReadonlySet<number> = new Set([
  resultCode.invalidCredentials,
  resultCode.inappropriateAuthentication,
  resultCode.noSuchObject,
  resultCode.invalidDnSyntax,
  resultCode.constraintViolation,
  resultCode.unwillingToPerform,
]);

/** A bind response holds only a code and a sentence, and hundreds may be pending at once. */
const maxAnswerBytes = 64 * 1024;

/**
 * Whether the directory accepts this password for this DN. Throws an LdapError if the server gives no verdict.
 * Refuses a blank DN or password itself: a server treats a bind without a password as anonymous and answers
 * success (RFC 4513 section 5.1.2). Refuses NUL too, because some servers read a password only up to its first NUL.
 */
export async function checkPassword(
  server: LdapHost,
  dn: string,
  password: string,
  { timeoutMs = 5_000 }: { /** For the whole check. */ timeoutMs?: number } = {},
): Promise<boolean> {
  if (dn.trim() === '' || password.trim() === '' || password.includes('\0')) return false;
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    const about = `did not answer within ${Math.ceil(timeoutMs / 1_000)} seconds.`;
    deadline.abort(new LdapError('timeout', ldapAddress(server.url), about));
  }, timeoutMs);
  try {
    const connection = await LdapConnection.open(server, {
      signal: deadline.signal,
      connectTimeoutMs: timeoutMs,
      operationTimeoutMs: timeoutMs,
      maxAnswerBytes,
    });
    try {
      const result = await connection.bind(dn, password);
      if (result.code === resultCode.success) return true;
      if (refusals.has(result.code)) return false;
      throw connection.refusal(result, 'bind');
    } finally {
      await connection.close();
    }
  } finally {
    clearTimeout(timer);
  }
}
