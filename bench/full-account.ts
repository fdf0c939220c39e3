import type { Database } from '@portal/db/open';
import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardTabs, dashboardWidgets } from '@portal/db/schema/dashboards/tabs';
import { breakpoints, type LayoutItem, type Layouts } from '@portal/domain/dashboards/grid';
import { maxTabs, maxWidgets } from '@portal/domain/dashboards/tabs';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';

const favoritesOfWidget = 30;

/** Creates an account with full dashboards: 60 widgets each, placed at every width, one of them with 30 favorites. */
export async function fullAccount(database: Database, settings: Record<string, string>, tabCount = maxTabs) {
  const make = builders(database);
  const user = await make.user();
  const { id: userId, tenantId } = user;
  const session = await make.session(user);
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: userId,
    tid: tenantId,
    sid: session.id,
    ver: 1,
  });
  const tabs = await database.inTenant(tenantId).tx(async (tx) => {
    const made: { id: string; favoritesId: string; layout: string }[] = [];
    for (let position = 0; position < tabCount; position += 1) {
      const tabId = newId();
      const widgets = Array.from({ length: maxWidgets }, (_, n) => ({
        id: newId(),
        tenantId,
        tabId,
        type: n === 0 ? 'favorites' : 'embedded-page',
        config:
          n === 0 ? { columns: 6 } : { url: `https://example.org/${n}`, title: `Seite ${n}`, reloadIntervalSec: 600 },
      }));
      const layouts = layoutsOf(widgets.map(({ id }) => id));
      await tx.insert(dashboardTabs).values({
        id: tabId,
        tenantId,
        userId,
        name: `Dashboard ${position + 1}`,
        position,
        gridVersion: 2,
        layouts,
        layoutRevision: 1,
        layoutUpdatedAt: new Date(),
      });
      await tx.insert(dashboardWidgets).values(widgets);
      const favoritesId = widgets[0]?.id ?? '';
      await tx.insert(favorites).values(
        Array.from({ length: favoritesOfWidget }, (_, n) => ({
          id: newId(),
          tenantId,
          widgetId: favoritesId,
          title: `Lesezeichen ${n}`,
          url: `https://example.org/${n}`,
          position: n,
        })),
      );
      made.push({ id: tabId, favoritesId, layout: JSON.stringify({ __gridVersion: 2, layouts }) });
    }
    return made;
  });
  return { user, tabs, cookie: `portal_session=${token}` };
}

const layoutsOf = (widgetIds: string[]): Layouts =>
  Object.fromEntries(breakpoints.map((breakpoint) => [breakpoint, widgetIds.map(itemOf)])) as Layouts;

const itemOf = (i: string, n: number): LayoutItem => ({ i, x: 0, y: n * 6, w: 2, h: 6, minW: 1, minH: 2 });
