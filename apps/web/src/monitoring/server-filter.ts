import type { Server } from '@portal/client/interface';
import { worstFirst } from '../dashboards/widgets/worst-first.ts';
import { addressOf } from '../shell/address.ts';
import type { ServerKind, ServerState, ShortServer } from './servers.ts';

/** From the most to the least urgent: a server that nobody can see into comes before one with a warning. */
export const listOrder = ['critical', 'unknown', 'warning', 'ok', 'off'] as const;
/** `off` is a server that is not checked. */
export type ListState = ServerState | 'off';

export const kinds: readonly ServerKind[] = ['virtualization', 'backup', 'mail-gateway'];

export const listPath = '/app/virtualization';

export const serverPath = (id: string, params: Record<string, string> = {}): string =>
  addressOf(`${listPath}/${encodeURIComponent(id)}`, params);

/** What the list shows; part of the address. */
export interface ServerFilter {
  search: string;
  /** Empty for all. */
  states: readonly ListState[];
  kind: ServerKind | '';
}

export function filterOf(query: Readonly<Record<string, string | undefined>>): ServerFilter {
  const wanted = query['state']?.split(',') ?? [];
  return {
    search: query['search'] ?? '',
    states: listOrder.filter((state) => wanted.includes(state)),
    kind: kinds.find((kind) => kind === query['kind']) ?? '',
  };
}

export const pathOf = ({ search, states, kind }: ServerFilter): string =>
  addressOf(listPath, { state: states.join(','), kind, search });

export const isFiltered = (filter: ServerFilter): boolean => pathOf(filter) !== listPath;

/** A server of the list, with all that is known of it so far. */
export interface ListedServer extends ShortServer {
  shown: ListState;
  /** Comes after the short list. */
  full: Server | undefined;
}

/** The servers by urgency: the active ones of the short list, and those switched off, which only the full list has. */
export function listedServers(active: readonly ShortServer[], all: readonly Server[] = []): ListedServer[] {
  const full = new Map(all.map((server) => [server.id, server]));
  const known = new Set(active.map(({ id }) => id));
  const off = all.filter(({ id, isActive }) => !isActive && !known.has(id));
  const rows: ListedServer[] = [
    ...active.map((server) => ({ ...server, shown: server.state, full: full.get(server.id) })),
    ...off.map((server) => {
      const { id, name, kind, status } = server;
      const { state, failure, message, checkedAt, headline, facts } = status;
      return {
        id,
        name,
        kind,
        state,
        failure,
        message,
        checkedAt,
        headline,
        facts,
        shown: 'off' as const,
        full: server,
      };
    }),
  ];
  return worstFirst<ListedServer, ListState>(rows, listOrder, {
    state: ({ shown }) => shown,
    name: ({ name }) => name,
  });
}

export function filterServers(
  servers: readonly ListedServer[],
  { search, states, kind }: ServerFilter,
): ListedServer[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return servers.filter(
    (server) =>
      (states.length === 0 || states.includes(server.shown)) &&
      (kind === '' || server.kind === kind) &&
      (words.length === 0 || hasAll(server, words)),
  );
}

function hasAll({ name, headline, message, full }: ListedServer, words: readonly string[]): boolean {
  const text = `${name} ${headline} ${message ?? ''} ${full?.address ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
