import type { App } from '../zod-app.ts';
import { registerModuleCategories } from './category-routes.ts';
import { registerCustomModules } from './custom-module-routes.ts';
import { registerModuleGrants } from './grant-routes.ts';
import { registerGroups } from './group-routes.ts';
import { registerTenantModules } from './module-routes.ts';

export function registerModules(app: App): void {
  registerGroups(app);
  registerTenantModules(app);
  registerModuleGrants(app);
  registerModuleCategories(app);
  registerCustomModules(app);
}
