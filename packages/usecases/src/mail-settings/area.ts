import { smtpConfigs } from '@portal/db/schema/mail-settings';
import type { Area } from '@portal/platform/area';
import { smtpPasswordContext } from '@portal/platform/outbox/stored-smtp-config';
import { auditActions } from './audit.ts';

export const mailSettings: Area = {
  name: 'mail-settings',
  tags: { 'mail-settings': 'A tenant’s mail server and the texts of its welcome mail.' },
  sealedColumns: [
    { table: smtpConfigs, column: smtpConfigs.password, boundTo: smtpConfigs.tenantId, context: smtpPasswordContext },
  ],
  auditActions,
};
