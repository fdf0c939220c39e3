import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { portal, queryClient } from '../portal.ts';
import type { UserFilter } from './users-filter.ts';

const usersKey = ['accounts', 'users'];
const userKey = (id: string) => [...usersKey, 'one', id];

/** What a window shows; it is there before the rest. */
const firstPageSize = 100;
/** The most that the API lists at once. */
const pageSize = 1_000;

const readPage = (filter: UserFilter, cursor: string | null, limit: number, signal: AbortSignal | undefined) =>
  portal.page('/users', {
    params: { query: { ...filter, limit, ...(cursor !== null && { cursor }) } },
    ...(signal && { signal }),
  });

const listOf = (filter: UserFilter) => ({
  queryKey: [...usersKey, 'list', filter],
  queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | null }) =>
    readPage(filter, pageParam, pageParam === null ? firstPageSize : pageSize, signal),
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
});

/** Reads the first accounts that match before a component asks for them. Never rejects. */
export const readUsersAhead = (filter: UserFilter): Promise<void> => queryClient.prefetchInfiniteQuery(listOf(filter));

/** The accounts that match. After the first hundred, the next thousand are read at once; the person asks for more. */
export function useUsers(filter: UserFilter) {
  const list = useInfiniteQuery({ ...listOf(filter), placeholderData: keepPreviousData });
  const isBegun = list.data?.pages.length === 1 && list.hasNextPage && !list.isPlaceholderData && !list.isError;
  useEffect(() => {
    if (isBegun) void list.fetchNextPage();
  }, [isBegun]);
  return list;
}

/** Reads all accounts that match, page by page. */
export async function readAllUsers(filter: UserFilter, signal?: AbortSignal): Promise<User[]> {
  const users: User[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(filter, cursor, pageSize, signal);
    users.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return users;
}

export const readUser = (id: string, signal?: AbortSignal): Promise<User> =>
  portal.get('/users/{id}', { params: { path: { id } }, ...(signal && { signal }) });

export const useUser = (id: string) =>
  useQuery({ queryKey: userKey(id), queryFn: ({ signal }) => readUser(id, signal) });

/** Shows a new state of an account without asking for it. */
export function keepUser(user: User): void {
  queryClient.setQueryData(userKey(user.id), user);
}

/** Accounts have changed: what is shown of them is read again, except for those that are gone. */
export function refreshUsers(gone: readonly string[] = []): void {
  void queryClient.invalidateQueries({
    queryKey: usersKey,
    predicate: ({ queryKey }) => !gone.some((id) => queryKey.includes(id)),
  });
}

export const useMailStatus = (enabled = true) =>
  useQuery({
    enabled,
    queryKey: [...usersKey, 'mail-status'],
    queryFn: ({ signal }) => portal.get('/users/welcome-mail/status', { signal }),
  });
