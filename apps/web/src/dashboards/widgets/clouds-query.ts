import { portal } from '../../portal.ts';

/** All cloud instances of the tenant. */
export const cloudsQuery = {
  queryKey: ['cloud-status', 'instances'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/cloud-status/instances', { signal }),
};
