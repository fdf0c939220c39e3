import { useQuery } from '@tanstack/preact-query';
import type { DashboardLayout, DashboardTab, DashboardWidget } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { gridVersion, type Layouts } from '../grid/breakpoints.ts';
import { portal, queryClient } from '../portal.ts';
import { imagesQuery } from './images.ts';
import { tabsKey } from './tabs-query.ts';
import { favoritesOf } from './widgets/favorites-query.ts';

const layoutKey = (tabId: string) => ['dashboards', 'layout', tabId];
const widgetsKey = (tabId: string) => ['dashboards', 'widgets', tabId];

const layoutOf = (tabId: string) => ({
  queryKey: layoutKey(tabId),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    portal.get('/dashboard/tabs/{id}/layout', { params: { path: { id: tabId } }, signal }),
});

export const widgetsOf = (tabId: string) => ({
  queryKey: widgetsKey(tabId),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    portal.get('/dashboard/tabs/{id}/widgets', { params: { path: { id: tabId } }, signal }),
});

export interface Board {
  layout: DashboardLayout;
  widgets: DashboardWidget[];
}

/** The widgets of a dashboard and their places, as one query. */
export function useBoard(tabId: string) {
  const layout = useQuery(layoutOf(tabId));
  const widgets = useQuery(widgetsOf(tabId));
  const data: Board | undefined = layout.data && widgets.data && { layout: layout.data, widgets: widgets.data };
  const isFetching = layout.isFetching || widgets.isFetching;
  return {
    data,
    error: layout.error ?? widgets.error,
    dataUpdatedAt: Math.min(layout.dataUpdatedAt, widgets.dataUpdatedAt),
    fetchStatus: isFetching ? ('fetching' as const) : ('idle' as const),
    refetch: () => Promise.all([layout.refetch(), widgets.refetch()]),
  };
}

/**
 * Reads a dashboard before a component asks for it: the one with this id, else the first. After a refusal the components ask themselves.
 */
export async function readAhead(tabId: string | undefined): Promise<void> {
  try {
    const query = tabId === undefined ? {} : { tabId };
    const read = await portal.get('/dashboard', { params: { query } });
    queryClient.setQueryData(tabsKey, read.tabs);
    queryClient.setQueryData(layoutKey(read.tabId), read.layout);
    queryClient.setQueryData(widgetsKey(read.tabId), read.widgets);
    queryClient.setQueryData(imagesQuery.queryKey, read.images);
    if (read.favorites === null) return;
    const favorites = Map.groupBy(read.favorites, ({ widgetId }) => widgetId);
    for (const { id, type } of read.widgets)
      if (type === 'favorites') queryClient.setQueryData(favoritesOf(id).queryKey, favorites.get(id) ?? []);
  } catch {
    // A refusal is shown where a component gets it.
  }
}

/** Reads a dashboard again, also for the page that shows it. */
export async function readBoard(tabId: string): Promise<Board> {
  const [layout, widgets] = await Promise.all([
    queryClient.fetchQuery({ ...layoutOf(tabId), staleTime: 0 }),
    queryClient.fetchQuery({ ...widgetsOf(tabId), staleTime: 0 }),
  ]);
  return { layout, widgets };
}

export const readTabsAgain = (): Promise<void> => queryClient.invalidateQueries({ queryKey: tabsKey });

export const forgetBoard = (tabId: string): void => {
  queryClient.removeQueries({ queryKey: layoutKey(tabId) });
  queryClient.removeQueries({ queryKey: widgetsKey(tabId) });
};

export const showTabs = (change: (tabs: DashboardTab[]) => DashboardTab[]): void => {
  queryClient.setQueryData<DashboardTab[]>(tabsKey, (tabs) => tabs && change(tabs));
};

export const showLayout = (tabId: string, layout: DashboardLayout): void => {
  queryClient.setQueryData<DashboardLayout>(layoutKey(tabId), layout);
};

export const showWidgets = (tabId: string, change: (widgets: DashboardWidget[]) => DashboardWidget[]): void => {
  queryClient.setQueryData<DashboardWidget[]>(widgetsKey(tabId), (widgets) => widgets && change(widgets));
};

const orderKey = ['order of the dashboards'];

/** Orders the dashboards. The order is shown at once, reaches the service after the one before, and is taken back if the service refuses it. */
export const orderTabs = {
  mutationKey: orderKey,
  scope: { id: orderKey.join(' ') },
  mutationFn: (ids: string[]) => portal.put('/dashboard/tabs/order', { body: { ids } }),
  onMutate: (ids: string[]) => showTabs((tabs) => tabs.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))),
  onSuccess: (ordered: DashboardTab[]) => {
    // The answer knows nothing of an order that waits.
    if (queryClient.isMutating({ mutationKey: orderKey }) === 1) showTabs(() => ordered);
  },
};

/** Saves some breakpoints, unless the layout changed since `base` was read. */
export const saveLayout = (tabId: string, base: DashboardLayout, layouts: Partial<Layouts>): Promise<DashboardLayout> =>
  portal.put('/dashboard/tabs/{id}/layout', {
    params: { path: { id: tabId } },
    body: { __gridVersion: gridVersion, layouts, revision: base.revision },
  });

export const moveWidget = (id: string, tabId: string) =>
  portal.patch('/dashboard/widgets/{id}', { params: { path: { id } }, body: { tabId } });

export const removeWidget = (id: string) =>
  portal.delete('/dashboard/widgets/{id}', { params: { path: { id } } }).catch(unlessGone);

export const deleteTab = (id: string) =>
  portal.delete('/dashboard/tabs/{id}', { params: { path: { id } } }).catch(unlessGone);

/** What another window has deleted already need not be deleted again. */
function unlessGone(error: unknown): void {
  if (!(error instanceof PortalError && error.status === 404)) throw error;
}
