import type { operations } from '@portal/client/interface';
import { addDays, instantsAt } from '../berlin-time.ts';
import { isAction } from './action-names.ts';

export type AuditQuery = NonNullable<operations['listAuditEntries']['parameters']['query']>;
export type AuditAction = NonNullable<AuditQuery['action']>;

/** What narrows the list, as the address has it; empty means everything. `from` and `to` are days, such as `2026-11-20`. */
export type AuditFilters = Record<(typeof filterKeys)[number], string>;

const filterKeys = ['action', 'actor', 'from', 'to', 'tenant'] as const;

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

const patterns: Record<Exclude<keyof AuditFilters, 'action'>, RegExp> = {
  actor: idPattern,
  tenant: idPattern,
  from: /^\d{4}-\d{2}-\d{2}$/,
  to: /^\d{4}-\d{2}-\d{2}$/,
};

/** The filters that the parameters of an address name; what cannot be one is left out. */
export function filtersOf(params: Readonly<Record<string, string>>): AuditFilters {
  const { action = '' } = params;
  const valueOf = (key: keyof typeof patterns) => {
    const value = params[key] ?? '';
    const isDay = key === 'from' || key === 'to';
    return patterns[key].test(value) && (!isDay || startOf(value) !== undefined) ? value : '';
  };
  return {
    action: isAction(action) ? action : '',
    actor: valueOf('actor'),
    from: valueOf('from'),
    to: valueOf('to'),
    tenant: valueOf('tenant'),
  };
}

export const isFiltered = (filters: AuditFilters): boolean => filterKeys.some((key) => filters[key] !== '');

/** The query of the service. Days are those of Berlin, and the last one counts wholly. */
export function queryOf({ action, actor, from, to, tenant }: AuditFilters): AuditQuery {
  const start = from === '' ? undefined : startOf(from);
  const next = to === '' ? undefined : startOf(addDays(to, 1));
  return {
    ...(action && { action: action as AuditAction }),
    ...(actor && { actorId: actor }),
    ...(tenant && { tenantId: tenant }),
    ...(start && { from: start }),
    ...(next && { to: new Date(Date.parse(next) - 1).toISOString() }),
  };
}

/** The first instant of a day; undefined if there is no such day. */
const startOf = (day: string): string | undefined => instantsAt(`${day}T00:00`)[0];
