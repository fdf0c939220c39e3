import { portal } from '../../portal.ts';

/** All calendars of the person. */
export const sourcesQuery = {
  queryKey: ['calendar', 'sources'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/calendar/sources', { signal }),
};
