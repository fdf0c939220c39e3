import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import type { AuditEntry } from '@portal/client/interface';
import { portal } from '../portal.ts';
import { entryTimeMs } from './entry-time.ts';
import { type AuditFilters, type AuditQuery, queryOf } from './filters.ts';

const pageOf = (query: AuditQuery, cursor: string | null, signal: AbortSignal) =>
  portal.page('/audit-log', { params: { query: { ...query, ...(cursor !== null && { cursor }) } }, signal });

/** The entries, newest first, page by page. */
export const useAuditEntries = (filters: AuditFilters) =>
  useInfiniteQuery({
    queryKey: ['audit', 'entries', filters],
    queryFn: ({ pageParam, signal }) => pageOf(queryOf(filters), pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
  });

/** One entry; null if the account may not see it, or it is no longer kept. */
export const useAuditEntry = (id: string, enabled: boolean) =>
  useQuery({ queryKey: ['audit', 'entry', id], queryFn: ({ signal }) => findEntry(id, signal), enabled });

// The clocks of the service's machines may differ.
const aroundMs = 120_000;
const mostPages = 10;

/** The service reads no entry by its id, but the id tells when it was made. */
async function findEntry(id: string, signal: AbortSignal): Promise<AuditEntry | null> {
  const atMs = entryTimeMs(id);
  if (atMs === null) return null;
  const around = { from: new Date(atMs - aroundMs).toISOString(), to: new Date(atMs + aroundMs).toISOString() };
  let cursor: string | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const { items, nextCursor } = await pageOf({ ...around, limit: 200 }, cursor, signal);
    const found = items.find((entry) => entry.id === id.toLowerCase());
    if (found || nextCursor === null) return found ?? null;
    cursor = nextCursor;
  }
  return null;
}

/** Accounts whose name contains the text. */
export const useAccounts = (search: string) =>
  useQuery({
    queryKey: ['audit', 'accounts', search],
    queryFn: ({ signal }) =>
      portal.get('/users', { params: { query: { limit: 20, ...(search && { search }) } }, signal }),
    placeholderData: keepPreviousData,
  });
