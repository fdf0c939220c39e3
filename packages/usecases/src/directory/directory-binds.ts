import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { checkPassword } from '@portal/connectors/ldap/check-password';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress, type LdapHost } from '@portal/connectors/ldap/server';
import { unavailable } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';

/** From the beginning of a sign-in to its directory's answer, waiting for one's turn included. */
export const patienceMs = 5 * SECOND;

/** How long a slow refusal is remembered, at least. */
const memoryMs = 15 * MINUTE;
/** Times are rounded up to this, so that what is left of their differences says nothing. */
const stepMs = SECOND / 10;

export interface DirectoryBinds {
  /**
   * Whether the directory takes this password for this DN. Throws an LdapError for any other answer, and for none before the
   * deadline (of `performance.now()`).
   */
  check(
    tenantId: string,
    host: Omit<LdapHost, 'policy'>,
    credentials: { dn: string; password: string },
    deadline: number,
  ): Promise<boolean>;
  /** Remembers how long a sign-in took that was refused after a directory was to be asked. */
  noteRefusal(ms: number): void;
  /** How long such a refusal has taken of late at the most: what every other one has to take too. */
  refusalMs(): number;
}

/** Binds of sign-ins. */
export function openDirectoryBinds(
  policy: AddressPolicy,
  { slots = callLimits.directoryBinds.slots, perKey = callLimits.directoryBinds.perKey } = {},
): DirectoryBinds {
  const refusal = () => unavailable('Too many people are signing in right now. Please try again in a few seconds.');
  const inSlot = openSemaphore({ ...callLimits.directoryBinds, slots, perKey, refusal });

  // The slowest of this stretch of time and of the one before.
  let slowest = { now: 0, before: 0, since: performance.now() };
  function slowestOfLate() {
    const age = performance.now() - slowest.since;
    if (age > memoryMs) slowest = { now: 0, before: age > 2 * memoryMs ? 0 : slowest.now, since: performance.now() };
    return slowest;
  }

  return {
    noteRefusal(ms) {
      const late = slowestOfLate();
      // What lies beyond the patience is our own delay, a rush of sign-ins for instance, and passes with it.
      late.now = Math.max(late.now, Math.ceil(Math.min(ms, patienceMs + SECOND) / stepMs) * stepMs);
    },
    refusalMs() {
      const { now, before } = slowestOfLate();
      return Math.max(now, before);
    },
    check: (tenantId, host, { dn, password }, deadline) =>
      inSlot(
        async () => {
          const timeoutMs = Math.floor(deadline - performance.now());
          if (timeoutMs <= 0) throw new LdapError('timeout', ldapAddress(host.url), 'did not answer in time.');
          return checkPassword({ ...host, policy }, dn, password, { timeoutMs });
        },
        { key: tenantId },
      ),
  };
}

/** The process's own. */
export const directoryBinds = resource(({ config }) => openDirectoryBinds(config.outbound.byAdmins));
