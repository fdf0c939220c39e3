import { useQuery } from '@tanstack/preact-query';
import { portal } from '../portal.ts';

export const tabsKey = ['dashboards', 'tabs'];

export const tabsQuery = {
  queryKey: tabsKey,
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/dashboard/tabs', { signal }),
};

/** The dashboards of the account. The palette lists them too, and does not need the other queries of this area. */
export const useTabs = () => useQuery(tabsQuery);
