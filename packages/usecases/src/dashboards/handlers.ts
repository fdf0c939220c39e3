import { type Handler, handle } from '@portal/platform/jobs/handler';
import { discoverFavoriteIcon } from './discover-icon.ts';
import { discoverIcon } from './jobs.ts';

export const dashboardHandlers: Handler[] = [
  handle(discoverIcon, (ctx, { favoriteId }, { signal }) => discoverFavoriteIcon(ctx, favoriteId, signal)),
];
