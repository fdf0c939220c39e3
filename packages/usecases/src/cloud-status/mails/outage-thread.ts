import { messageIdFor } from '@portal/mail/message-id';
import type { TenantContext } from '@portal/platform/context';

/** Groups the mails about an outage in one thread. In a mass outage, `outageId` is the outage whose mail reports all of them. */
export const outageThread = (
  { tenantId, config }: Pick<TenantContext, 'tenantId' | 'config'>,
  outageId: string,
): string => messageIdFor(`${tenantId}/cloud-status/outage/${outageId}`, new URL(config.http.publicUrl).hostname);
