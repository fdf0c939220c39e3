import { portal } from '../../portal.ts';

/** The favorites of one widget. */
export const favoritesOf = (widgetId: string) => ({
  queryKey: ['dashboards', 'favorites', widgetId],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    portal.get('/favorites', { params: { query: { widgetId } }, signal }),
});
