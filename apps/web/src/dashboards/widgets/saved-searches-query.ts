import { portal } from '../../portal.ts';

/** All saved searches of the person. */
export const savedSearchesQuery = {
  queryKey: ['tenders', 'saved-searches'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/tenders/saved-searches', { signal }),
};
