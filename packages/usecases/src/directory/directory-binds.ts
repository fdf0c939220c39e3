import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { checkPassword } from '@portal/connectors/ldap/check-password';
import { LdapError } from '@portal/connectors/ldap/ldap-error';
import { ldapAddress, type LdapHost } from '@portal/connectors/ldap/server';
import { unavailable } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import { callLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';

/** From the start of a sign-in to the answer of its directory, including the wait for a slot. */
export const signInTimeoutMs = 5 * SECOND;

/** The portal remembers a slow refusal at least this long. */
const rememberMs = 15 * MINUTE;
/** Durations are rounded up to this, so that small differences reveal nothing. */
const stepMs = SECOND / 10;

export interface DirectoryBinds {
  /**
   * Whether the directory accepts this password for this DN. Throws an LdapError for any other answer, and if none arrives before
   * the deadline (in terms of `performance.now()`).
   */
  check(
    tenantId: string,
    host: Omit<LdapHost, 'policy'>,
    credentials: { dn: string; password: string },
    deadline: number,
  ): Promise<boolean>;
  /** Records how long a refused sign-in of a directory account took. */
  noteRefusal(ms: number): void;
  /** The slowest such refusal of late. Every other refusal must take as long. */
  refusalMs(): number;
}

export function openDirectoryBinds(
  policy: AddressPolicy,
  { slots = callLimits.directoryBinds.slots, perKey = callLimits.directoryBinds.perKey } = {},
): DirectoryBinds {
  const refusal = () => unavailable('Too many people are signing in right now. Please try again in a few seconds.');
  const inSlot = openSemaphore({ ...callLimits.directoryBinds, slots, perKey, refusal });

  // The slowest refusals of the current and of the previous period.
  let slowest = { now: 0, before: 0, since: performance.now() };
  function recentSlowest() {
    const age = performance.now() - slowest.since;
    if (age > rememberMs)
      slowest = { now: 0, before: age > 2 * rememberMs ? 0 : slowest.now, since: performance.now() };
    return slowest;
  }

  return {
    noteRefusal(ms) {
      const late = recentSlowest();
      // Time beyond the timeout is a delay of the portal, such as a rush of sign-ins, and ends with it.
      late.now = Math.max(late.now, Math.ceil(Math.min(ms, signInTimeoutMs + SECOND) / stepMs) * stepMs);
    },
    refusalMs() {
      const { now, before } = recentSlowest();
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

export const directoryBinds = resource(({ config }) => openDirectoryBinds(config.outbound.byAdmins));
