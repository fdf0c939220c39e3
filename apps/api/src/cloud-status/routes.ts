import type { App } from '../zod-app.ts';
import { registerCloudChecks } from './check-routes.ts';
import { registerCloudInstances } from './instance-routes.ts';
import { registerCloudLogos } from './logo-routes.ts';

/** Clouds of customers: their status, and mails when one fails. */
export function registerCloudStatus(app: App): void {
  registerCloudInstances(app);
  registerCloudLogos(app);
  registerCloudChecks(app);
}
