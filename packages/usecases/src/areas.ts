import type { Area } from '@portal/platform/area';
import { filesArea } from '@portal/platform/files/area';
import { operationsArea } from '@portal/platform/operations/area';
import { outboxArea } from '@portal/platform/outbox/area';
import { accounting } from './accounting/area.ts';
import { accounts } from './accounts/area.ts';
import { audit } from './audit/area.ts';
import { calendar } from './calendar/area.ts';
import { certificates } from './certificates/area.ts';
import { cloudStatus } from './cloud-status/area.ts';
import { dashboards } from './dashboards/area.ts';
import { desktop } from './desktop/area.ts';
import { directory } from './directory/area.ts';
import { invoices } from './invoices/area.ts';
import { mailSettings } from './mail-settings/area.ts';
import { modules } from './modules/area.ts';
import { monitoring } from './monitoring/area.ts';
import { reminders } from './reminders/area.ts';
import { support } from './support/area.ts';
import { tenants } from './tenants/area.ts';
import { tenders } from './tenders/area.ts';

/** The areas of the product, in the order of the API document. */
export const areas: readonly Area[] = [
  accounts,
  modules,
  mailSettings,
  dashboards,
  directory,
  tenants,
  reminders,
  certificates,
  calendar,
  support,
  desktop,
  cloudStatus,
  monitoring,
  accounting,
  invoices,
  tenders,
  audit,
  // Shared by all areas: mails, files and background work.
  outboxArea,
  filesArea,
  operationsArea,
];
