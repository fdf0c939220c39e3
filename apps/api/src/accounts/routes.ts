import type { App } from '../zod-app.ts';
import { registerProfile } from './profile-routes.ts';
import { registerSignIn } from './sign-in-routes.ts';
import { registerUsers } from './user-routes.ts';

export function registerAccounts(app: App): void {
  registerSignIn(app);
  registerProfile(app);
  registerUsers(app);
}
