import { acrossRoleName } from '../roles.ts';

declare const preamble: unique symbol;
/** What begins a transaction and says whose it is. It holds until the end of that transaction and not a moment longer. */
export type Preamble = string & { [preamble]: true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** With an account, its own rows among those no colleague may see are seen as well. */
export function tenantPreamble(tenantId: string, accountId?: string): Preamble {
  // They become part of a statement.
  if (!uuid.test(tenantId)) throw new TypeError('inTenant needs a tenant id');
  if (accountId === undefined) return `begin; set local portal.tenant = '${tenantId}'` as Preamble;
  if (!uuid.test(accountId)) throw new TypeError('an account is named by its id');
  return `begin; set local portal.tenant = '${tenantId}'; set local portal.account = '${accountId}'` as Preamble;
}

export const acrossPreamble = `begin; set local role ${acrossRoleName}` as Preamble;
