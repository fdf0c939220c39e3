import { portal } from '../../portal.ts';

/** All servers of the tenant with all findings. Tiles use the shorter `/virtualization/status`. */
export const serversQuery = {
  queryKey: ['virtualization', 'servers'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/virtualization/servers', { signal }),
};
