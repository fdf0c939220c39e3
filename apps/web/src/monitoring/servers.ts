import { useQuery } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import type { Server, ServerTile } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { serversQuery } from '../dashboards/widgets/servers-query.ts';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';

export type ServerKind = Server['kind'];
export type ServerState = Server['status']['state'];
export type Failure = NonNullable<Server['status']['failure']>;
export type Rule = Server['status']['rules'][number];
export type Fact = Server['status']['facts'][number];
/** What the short list knows of a server. */
export type ShortServer = ServerTile['servers'][number];

const intervalMs = 30_000;

// It is the query of the dashboard's tiles, so that both show the same.
const statusQuery = {
  queryKey: ['virtualization', 'status'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/virtualization/status', { signal }),
};

/** The active servers in short. */
export const useServerStatus = () => usePolled({ ...statusQuery, intervalMs });

/** Reads the active servers before a component asks for them. Never rejects. */
export const readServerStatusAhead = (): Promise<void> => queryClient.prefetchQuery(statusQuery);

/** All servers with all findings and settings. The service has no route for a single one. */
export const useServers = (enabled = true) => useQuery({ ...serversQuery, enabled });

/** Reads findings and history again as soon as the short list tells of a newer check of a server than what is shown. */
export function useFreshFindings(id: string, shownCheckedAt: string | null | undefined): void {
  const checkedAt = useServerStatus().data?.servers.find((one) => one.id === id)?.checkedAt;
  useEffect(() => {
    const isNewer = checkedAt && shownCheckedAt !== undefined && checkedAt !== shownCheckedAt;
    if (isNewer) void refreshFindings(id);
    // What is shown follows; it must not start another reading.
  }, [checkedAt]);
}

export const historyKey = (id: string) => ['virtualization', 'history', id];

const refreshFindings = (id: string) =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: serversQuery.queryKey }),
    queryClient.invalidateQueries({ queryKey: historyKey(id) }),
  ]);

export const refreshServers = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['virtualization'] });

/** The server as the service has it now. Throws 404 if it is gone. */
export async function readServer(id: string): Promise<Server> {
  const all = await queryClient.fetchQuery({ ...serversQuery, staleTime: 0 });
  const found = all.find((server) => server.id === id);
  if (!found) throw new PortalError({ code: 'NOT_FOUND', message: 'There is no such server.' }, { status: 404 });
  return found;
}

/** Shows a new state of a server without asking for all. */
export function keepServer(changed: Server): void {
  queryClient.setQueryData<Server[]>(
    serversQuery.queryKey,
    (servers) => servers && [...servers.filter(({ id }) => id !== changed.id), changed],
  );
  void queryClient.invalidateQueries({ queryKey: ['virtualization', 'status'] });
}

export async function deleteServer({ id }: Server): Promise<void> {
  await portal.delete('/virtualization/servers/{id}', { params: { path: { id } } });
  queryClient.setQueryData<Server[]>(serversQuery.queryKey, (servers) => servers?.filter((one) => one.id !== id));
  void queryClient.invalidateQueries({ queryKey: ['virtualization', 'status'] });
}
