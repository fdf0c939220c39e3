import type { User } from '@portal/client/interface';

/** What the list shows; part of the address. */
export interface UserFilter {
  search?: string;
  role?: User['role'];
  isActive?: boolean;
  source?: User['source'];
  /** Only for a super administrator. */
  tenantId?: string;
}

const roles = ['USER', 'ADMIN', 'SUPER_ADMIN'] as const;
const sources = ['local', 'directory'] as const;

/** The filter in the query of an address. Leaves out what the API would refuse. */
export function filterOf(query: Record<string, string>): UserFilter {
  const role = roles.find((one) => one === query['role']);
  const source = sources.find((one) => one === query['source']);
  const isActive = { true: true, false: false }[query['isActive'] ?? ''];
  const search = query['search']?.trim().slice(0, 200);
  const tenantId = /^[0-9a-f-]{36}$/i.exec(query['tenantId'] ?? '')?.[0];
  return {
    ...(search && { search }),
    ...(role && { role }),
    ...(isActive !== undefined && { isActive }),
    ...(source && { source }),
    ...(tenantId && { tenantId }),
  };
}

export const listPath = '/app/admin/users';

export function pathOf(filter: UserFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? listPath : `${listPath}?${text}`;
}
