import type { Area } from '@portal/platform/area';

export const releases: Area = { name: 'releases' };
