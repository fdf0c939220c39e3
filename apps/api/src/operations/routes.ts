import type { Runtime } from '@portal/platform/runtime';
import type { App } from '../zod-app.ts';
import { registerHealth } from './health-routes.ts';
import { registerMetrics } from './metrics-routes.ts';
import { registerQueueBoard } from './queue-board-routes.ts';
import { registerWork } from './work-routes.ts';

export function registerOperations(app: App, runtime: Runtime): void {
  registerHealth(app, runtime);
  registerWork(app);
  registerQueueBoard(app);
  registerMetrics(app, runtime);
}
