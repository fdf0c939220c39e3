import type { App } from '../zod-app.ts';
import { registerMerchandiseAccounts } from './account-routes.ts';
import { registerCanteen } from './canteen-routes.ts';
import { registerMerchandise } from './merchandise-routes.ts';

export function registerAccounting(app: App): void {
  registerCanteen(app);
  registerMerchandise(app);
  registerMerchandiseAccounts(app);
}
