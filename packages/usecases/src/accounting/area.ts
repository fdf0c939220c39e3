import { sql } from 'drizzle-orm';
import { merchandiseChanges } from '@portal/db/schema/accounting/merchandise';
import type { Area } from '@portal/platform/area';
import { auditActions } from './audit.ts';

export const accounting: Area = {
  name: 'accounting',
  tags: {
    'canteen-billing': 'Convert the list of a canteen to a file for payroll accounting.',
    'merchandise-export': 'Convert a list of merchandise to a file for financial accounting, and manage its accounts.',
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
