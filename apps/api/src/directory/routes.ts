import type { App } from '../zod-app.ts';
import { registerDirectoryConfig } from './config-routes.ts';
import { registerDirectorySync } from './sync-routes.ts';

export function registerDirectory(app: App): void {
  registerDirectoryConfig(app);
  registerDirectorySync(app);
}
