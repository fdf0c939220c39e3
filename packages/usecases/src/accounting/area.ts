import { sql } from 'drizzle-orm';
import { merchandiseChanges } from '@portal/db/schema/accounting/merchandise';
import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const accounting: Area = {
  name: 'accounting',
  tags: {
    'canteen-billing': 'A canteen’s list as a file for payroll accounting.',
    'merchandise-export': 'A list of merchandise as a file for financial accounting, and the accounts it goes to.',
  },
  retention: [
    {
      what: 'changes of account lists',
      table: merchandiseChanges,
      isOver: sql`${merchandiseChanges.createdAt} <= now() - interval '30 days'`,
    },
  ],
  auditActions,
};
