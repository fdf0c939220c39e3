import { LdapConnection } from './connection.ts';
import { LdapError, resultCode } from './ldap-error.ts';
import { ldapAddress, type LdapHost } from './server.ts';

/**
 * The results that mean "not with this name and password". Active Directory answers invalidCredentials for
 * accounts that are locked, disabled or expired, other servers one of the rest.
 */
const refusals: ReadonlySet<number> = new Set([
  resultCode.invalidCredentials,
  resultCode.inappropriateAuthentication,
  resultCode.noSuchObject,
  resultCode.invalidDnSyntax,
  resultCode.constraintViolation,
  resultCode.unwillingToPerform,
]);

/** The answer to a bind is a code and a sentence; hundreds may be awaited at once. */
const maxAnswerBytes = 64 * 1024;

/**
 * Whether the directory lets the DN in with the password; throws an LdapError where the server gives no verdict.
 * A blank DN or password is refused here: a server takes a bind without a password for an anonymous one and
 * answers success (RFC 4513 section 5.1.2), and so may one that reads a password only up to its first NUL.
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
