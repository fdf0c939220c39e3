import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const certificates: Area = {
  name: 'certificates',
  tags: {
    certificates: 'Analyze files with certificates, keys and certificate requests, and export them to other formats.',
  },
  auditActions,
};
