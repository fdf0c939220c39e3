import { AppWindow, type IconNode } from 'lucide';
import type { ActiveModule, Profile } from '@portal/client/interface';
import { type PageRoute, routes } from '../routes.ts';
import { lackFor } from './access.ts';
import { categoryName, moduleName } from './module-names.ts';
import { customModulePath } from './modules.ts';
import { pageNames } from './page-names.ts';
import { texts } from './texts.ts';

export interface NavItem {
  href: string;
  label: string;
  icon: IconNode;
  /** Undefined for a custom module. */
  route?: PageRoute;
}

export interface NavGroup {
  key: string;
  label: string;
  items: NavItem[];
}

export type NavGroups = Record<'main' | 'modules' | 'account' | 'admin', NavGroup[]>;

interface Caller {
  role: Profile['role'];
  modules: readonly ActiveModule[] | undefined;
}

/** All that the account may open, by group. A group without an entry is left out. */
export function navGroups(caller: Caller): NavGroups {
  const t = texts.value;
  return {
    main: filled([{ key: 'main', label: t.pages, items: pagesOf('main', caller) }]),
    modules: filled(moduleGroups(caller.modules ?? [])),
    account: filled([{ key: 'account', label: t.account, items: pagesOf('account', caller) }]),
    admin: filled([{ key: 'admin', label: t.administration, items: pagesOf('admin', caller) }]),
  };
}

const filled = (groups: NavGroup[]): NavGroup[] => groups.filter(({ items }) => items.length > 0);

function pagesOf(group: 'main' | 'account' | 'admin', caller: Caller): NavItem[] {
  return routes.flatMap((route) =>
    route.nav?.group === group && lackFor(route.who, caller) === null ? [pageItem(route, route.nav.icon)] : [],
  );
}

const pageItem = (route: PageRoute, icon: IconNode): NavItem => ({
  href: route.path,
  label: pageNames.value[route.name],
  icon,
  route,
});

/** The modules of each category, in the order of the API. */
function moduleGroups(modules: readonly ActiveModule[]): NavGroup[] {
  return [...Map.groupBy(modules, ({ category }) => category)].map(([key, members]) => ({
    key,
    label: categoryName({ key, name: members[0]?.categoryName ?? key }),
    items: members.flatMap(moduleItem),
  }));
}

/** A built-in module is listed if it has a page. */
function moduleItem(module: ActiveModule): NavItem[] {
  const label = moduleName(module);
  const href = customModulePath(module);
  if (href !== null) return [{ href, label, icon: AppWindow }];
  const route = routes.find(
    ({ who, nav }) => nav?.group === 'module' && typeof who === 'object' && who.module === module.key,
  );
  return route?.nav ? [{ ...pageItem(route, route.nav.icon), label }] : [];
}
