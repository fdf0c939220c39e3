import { handle } from '@portal/platform/jobs/handler';
import { discoverFavoriteIcon } from '@portal/usecases/dashboards/discover-icon';
import { discoverIcon } from '@portal/usecases/dashboards/jobs';

export const dashboardHandlers = [
  handle(discoverIcon, (ctx, { favoriteId }, { signal }) => discoverFavoriteIcon(ctx, favoriteId, signal)),
];
