import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const certificates: Area = {
  name: 'certificates',
  tags: {
    certificates: 'Certificates, keys and requests: what a set of files holds, and files of other formats made of it.',
  },
  auditActions,
};
