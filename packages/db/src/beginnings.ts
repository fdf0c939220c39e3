import { acrossRoleName } from './roles.ts';

/** A statement prepared on every connection that begins the transaction another one makes up, and its parameters. */
export interface Ahead {
  name: string;
  values: string[];
}

/** How a transaction begins, in both ways it may be sent. */
export interface Beginning {
  /** Statements of their own. */
  text: string;
  /** What goes ahead of a statement that is all of the transaction. */
  ahead: Ahead | null;
  /** Whom the connection serves once the text has been confirmed, where that changes. */
  tenantId: string | null;
}

// Set for one transaction, so that nothing of it stays on the connection. A plain `set` would do the same without a row
// that nobody reads, but cannot be given parameters.
export const prepareAheads = `prepare portal_enter(text) as select set_config('portal.tenant', $1, true);
prepare portal_across as select set_config('role', '${acrossRoleName}', true)`;

/** Serves one tenant from here on. Carries no row back; `tenantId` must have been checked to be a UUID. */
export const setTenant = (tenantId: string): string => `set portal.tenant = '${tenantId}'`;

export const tenantBegins = (tenantId: string): Beginning => ({
  text: `begin; ${setTenant(tenantId)}`,
  ahead: { name: 'portal_enter', values: [tenantId] },
  tenantId,
});

export const sameTenantBegins: Beginning = { text: 'begin', ahead: null, tenantId: null };

export const acrossTenantsBegins: Beginning = {
  text: `begin; set local role ${acrossRoleName}`,
  ahead: { name: 'portal_across', values: [] },
  tenantId: null,
};
