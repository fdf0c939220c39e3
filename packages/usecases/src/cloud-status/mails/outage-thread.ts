import { messageIdFor } from '@portal/mail/message-id';
import type { TenantContext } from '@portal/platform/context';

/** The thread of the mails about an outage, so that its end stands beside its beginning. Of many told together, it is that of the one whose mail tells them. */
export const outageThread = (
  { tenantId, config }: Pick<TenantContext, 'tenantId' | 'config'>,
  outageId: string,
): string => messageIdFor(`${tenantId}/cloud-status/outage/${outageId}`, new URL(config.http.publicUrl).hostname);
