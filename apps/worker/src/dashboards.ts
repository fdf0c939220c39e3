import { discoverFavoriteIcon } from '@portal/usecases/dashboards/discover-icon';
import { discoverIcon } from '@portal/usecases/dashboards/jobs';
import { handle } from '@portal/usecases/run/handler';

export const dashboardHandlers = [
  handle(discoverIcon, (ctx, { favoriteId }, { signal }) => discoverFavoriteIcon(ctx, favoriteId, signal)),
];
