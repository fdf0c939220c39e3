import { portal } from '../../portal.ts';

/** All cloud instances of the tenant. */
export const cloudsQuery = {
  queryKey: ['cloud-status', 'instances'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/cloud-status/instances', { signal }),
};

/** The clouds that a person sees before looking for more. */
const limit = 100;

/** How many clouds have each light, and the worst of them. */
export const cloudOverviewQuery = {
  queryKey: ['cloud-status', 'overview'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    portal.get('/cloud-status/overview', { params: { query: { limit } }, signal }),
};
