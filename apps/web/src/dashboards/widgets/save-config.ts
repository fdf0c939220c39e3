import type { DashboardWidget } from '@portal/client/interface';
import { portal, queryClient } from '../../portal.ts';
import type { Config } from './tile-props.ts';

/** Stores the whole configuration of a widget and shows it wherever the widget is shown. */
export async function saveConfig(id: string, config: Config): Promise<void> {
  const saved = await portal.patch('/dashboard/widgets/{id}', { params: { path: { id } }, body: { config } });
  queryClient.setQueriesData<DashboardWidget[]>({ queryKey: ['dashboards', 'widgets'] }, (widgets) =>
    widgets?.map((widget) => (widget.id === id ? saved : widget)),
  );
}
