import { favorites } from '@portal/db/schema/dashboards/favorites';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import type { Area } from '@portal/platform/area';
import { quarterEach } from '@portal/platform/jobs/job';
import { discoverIcon } from './jobs.ts';

export const dashboards: Area = {
  name: 'dashboards',
  tags: { dashboards: 'A user’s own dashboards: tabs, layouts, widgets, pictures and favorites.' },
  jobs: [discoverIcon],
  // A search spends most of its time waiting for a page that may never answer.
  concurrency: { icons: quarterEach(50) },
  files: [
    { folder: 'dashboard-images', table: dashboardImages, path: dashboardImages.storagePath },
    { folder: 'favorite-icons', table: favorites, path: favorites.iconPath },
  ],
};
