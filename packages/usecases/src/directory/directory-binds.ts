import { checkPassword } from '@portal/connectors/ldap/check-password';
import { LdapFailure } from '@portal/connectors/ldap/failure';
import { ldapAddress, type LdapHost } from '@portal/connectors/ldap/server';
import { unavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { openSharedSlots, openSlotsByKey } from '../run/slots.ts';

/** From the beginning of a sign-in to its directory's answer, waiting for one's turn included. */
const patienceMs = 5 * SECOND;

export interface DirectoryBinds {
  /**
   * Runs the sign-ins that share a limit one after the other: the failure of a guess is counted before the next one binds, so
   * many at once neither get past the limit nor lock the account in the directory.
   */
  inTurn<T>(subject: string, work: (deadline: number) => Promise<T>): Promise<T>;
  /**
   * Whether the directory takes this password for this DN. Throws an LdapFailure for any other answer, and for none before the
   * deadline (of `performance.now()`).
   */
  check(
    tenantId: string,
    host: LdapHost,
    credentials: { dn: string; password: string },
    deadline: number,
  ): Promise<boolean>;
}

/** Binds of sign-ins, so many at a time that a directory which does not answer holds up its own tenant alone. */
export function openDirectoryBinds({ perTenant = 8, perProcess = 200 } = {}): DirectoryBinds {
  const refusal = () => unavailable('Too many people are signing in right now. Please try again in a few seconds.');
  const inTurn = openSlotsByKey({ slots: 1, queueLimit: 50, refusal });
  const inSlotOfTenant = openSharedSlots({
    each: { slots: perTenant, queueLimit: 500 },
    all: { slots: perProcess, queueLimit: 0 },
    refusal,
  });

  return {
    inTurn: (subject, work) => {
      const deadline = performance.now() + patienceMs;
      return inTurn(subject, () => work(deadline));
    },
    check: (tenantId, host, { dn, password }, deadline) =>
      inSlotOfTenant(tenantId, async () => {
        const timeoutMs = Math.floor(deadline - performance.now());
        if (timeoutMs <= 0) throw new LdapFailure('timeout', ldapAddress(host.url), 'did not answer in time.');
        return checkPassword(host, dn, password, { timeoutMs });
      }),
  };
}
