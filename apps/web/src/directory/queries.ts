import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import type { LdapSyncRun } from '@portal/client/interface';
import { portal, queryClient } from '../portal.ts';

export const configKey = ['directory', 'config'] as const;

export const readConfig = (signal?: AbortSignal) => portal.get('/ldap/config', signal ? { signal } : undefined);

export const useConfig = () => useQuery({ queryKey: configKey, queryFn: ({ signal }) => readConfig(signal) });

export const useMappings = () =>
  useQuery({
    queryKey: ['directory', 'mappings'],
    queryFn: ({ signal }) => portal.get('/ldap/mappings', { signal }),
  });

/** What a synchronization would change. It is read when a person asks for it, and kept until then. */
export const usePreview = () =>
  useQuery({
    queryKey: ['directory', 'preview'],
    queryFn: ({ signal }) => portal.post('/ldap/sync/preview', { signal }),
    enabled: false,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

const runsKey = ['directory', 'runs'] as const;
const pageSize = 50;
const pollMs = 3_000;

export const isUnfinished = ({ state }: Pick<LdapSyncRun, 'state'>): boolean =>
  state === 'queued' || state === 'running';

/** The runs, newest first. As long as one goes on, they are read again and again. */
export const useRuns = () =>
  useInfiniteQuery({
    queryKey: runsKey,
    queryFn: ({ pageParam, signal }) =>
      portal.page('/ldap/sync/runs', {
        params: { query: { limit: pageSize, ...(pageParam !== null && { cursor: pageParam }) } },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(isUnfinished)) ? pollMs : false,
  });

export const useRun = (id: string) =>
  useQuery({
    queryKey: ['directory', 'run', id],
    queryFn: ({ signal }) => portal.get('/ldap/sync/runs/{id}', { params: { path: { id } }, signal }),
    staleTime: 0,
  });

/** After a run, accounts and groups are other ones, and a preview no longer holds. */
export async function refreshAfterRun(): Promise<void> {
  await queryClient.resetQueries({ queryKey: ['directory', 'preview'] });
  await Promise.all(
    [['directory'], ['accounts', 'users'], ['modules']].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}
