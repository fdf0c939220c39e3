import type { Area } from '@portal/platform/area';

export const audit: Area = { name: 'audit', tags: { audit: 'Who did what and when.' } };
