import { acrossRoleName } from '../roles.ts';

declare const preamble: unique symbol;
/** Begins a transaction and sets its tenant, which is valid until the end of that transaction. */
export type Preamble = string & { [preamble]: true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** With an account, the transaction also sees that account's private rows. */
export function tenantPreamble(tenantId: string, accountId?: string): Preamble {
  // The ids become part of the statement text.
  if (!uuid.test(tenantId)) throw new TypeError('inTenant needs a tenant id');
  if (accountId === undefined) return `begin; set local portal.tenant = '${tenantId}'` as Preamble;
  if (!uuid.test(accountId)) throw new TypeError('an account is named by its id');
  return `begin; set local portal.tenant = '${tenantId}'; set local portal.account = '${accountId}'` as Preamble;
}

export const acrossPreamble = `begin; set local role ${acrossRoleName}` as Preamble;
