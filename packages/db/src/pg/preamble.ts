import { acrossRoleName } from '../roles.ts';

declare const preamble: unique symbol;
/** What begins a transaction and says whose it is. It holds until the end of that transaction and not a moment longer. */
export type Preamble = string & { [preamble]: true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function tenantPreamble(tenantId: string): Preamble {
  // It becomes part of a statement.
  if (!uuid.test(tenantId)) throw new TypeError('inTenant needs a tenant id');
  return `begin; set local portal.tenant = '${tenantId}'` as Preamble;
}

export const acrossPreamble = `begin; set local role ${acrossRoleName}` as Preamble;
