import type { Area } from '@portal/platform/area';

export const tenders: Area = {
  name: 'tenders',
};
