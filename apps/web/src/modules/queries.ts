import type { GrantMatrix, GroupMember } from '@portal/client/interface';
import { portal, queryClient } from '../portal.ts';
import { me } from '../session.ts';

interface Cancellable {
  signal: AbortSignal;
}

export const groupsQuery = {
  queryKey: ['modules', 'groups'],
  queryFn: ({ signal }: Cancellable) => portal.get('/groups', { signal }),
};

/** The groups of an account. */
export const groupsOfQuery = (memberId: string) => ({
  queryKey: ['modules', 'groups', 'of', memberId],
  queryFn: ({ signal }: Cancellable) => portal.get('/groups', { params: { query: { memberId } }, signal }),
});

export const membersQuery = (groupId: string) => ({
  queryKey: ['modules', 'groups', groupId, 'members'],
  queryFn: ({ signal }: Cancellable) =>
    portal.get('/groups/{id}/members', { params: { path: { id: groupId } }, signal }),
});

export const matrixQuery = {
  queryKey: ['modules', 'matrix'],
  queryFn: ({ signal }: Cancellable): Promise<GrantMatrix> => portal.get('/module-grants/matrix', { signal }),
};

export const modulesQuery = {
  queryKey: ['modules', 'all'],
  queryFn: ({ signal }: Cancellable) => portal.get('/modules', { signal }),
};

export const categoriesQuery = {
  queryKey: ['modules', 'categories'],
  queryFn: ({ signal }: Cancellable) => portal.get('/module-categories', { signal }),
};

export const customModulesQuery = {
  queryKey: ['modules', 'custom'],
  queryFn: ({ signal }: Cancellable) => portal.get('/custom-modules', { signal }),
};

/** Reads everything about modules and groups again, also the navigation. */
export const refreshModules = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['modules'] });

interface MemberChange {
  add?: readonly string[];
  remove?: readonly string[];
}

/**
 * Adds and removes members. The service only takes whole lists, so this changes the list as it is now: what another administrator changed
 * since the page was drawn stays.
 */
export async function changeMembers(groupId: string, { add = [], remove = [] }: MemberChange): Promise<GroupMember[]> {
  const params = { path: { id: groupId } };
  const now = await portal.get('/groups/{id}/members', { params });
  const ids = new Set([...now.map(({ id }) => id), ...add]);
  for (const id of remove) ids.delete(id);
  const members = await portal.put('/groups/{id}/members', { params, body: { userIds: [...ids] } });
  queryClient.setQueryData(membersQuery(groupId).queryKey, members);
  // Not waited for: until the message of this change is there, the keys that take back take back the change before.
  void queryClient.invalidateQueries({ queryKey: groupsQuery.queryKey, exact: true });
  return members;
}

const foundAtOnce = 20;

/** Accounts of the organization whose name or address contains the text. */
export const accountsQuery = (search: string) => ({
  queryKey: ['modules', 'accounts', search],
  queryFn: ({ signal }: Cancellable) =>
    portal.page('/users', {
      params: {
        query: {
          limit: foundAtOnce,
          ...(search && { search }),
          // Without it, a SUPER_ADMIN would find the accounts of all tenants.
          ...(me.value?.role === 'SUPER_ADMIN' && { tenantId: me.value.tenantId }),
        },
      },
      signal,
    }),
});
