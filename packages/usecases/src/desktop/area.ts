import type { Area } from '@portal/platform/area';

export const desktop: Area = {
  name: 'desktop',
  tags: { desktop: 'Packages and updates of the desktop app.' },
};
