import type { Area } from '@portal/platform/area';

export const desktop: Area = {
  name: 'desktop',
  tags: { desktop: 'Packages of the desktop app, and what it may update itself to.' },
};
