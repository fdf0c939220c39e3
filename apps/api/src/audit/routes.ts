import { z } from 'zod';
import { role } from '@portal/domain/access';
import { AuditEntry } from '@portal/domain/audit/entries';
import { Id } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import { areas } from '@portal/usecases/areas';
import { listAuditEntries } from '@portal/usecases/audit/list-audit-entries';
import { pageQuery, sendPage } from '../paging.ts';
import type { App } from '../zod-app.ts';

const AuditAction = z.enum(areas.flatMap(({ auditActions = [] }) => auditActions));

/** The route of the audit log. */
export function registerAudit(app: App): void {
  app.get(
    '/audit-log',
    {
      config: { access: role('ADMIN') },
      schema: {
        operationId: 'listAuditEntries',
        tags: ['audit'],
        summary: 'Read the audit log',
        description:
          'Newest first. Among other things, the log records sign-ins, failed sign-ins, and changes to accounts and tenants. An ADMIN sees their own tenant. A SUPER_ADMIN sees the tenant named by `tenantId`, or, without it, all tenants and the entries that belong to no tenant. Entries are kept for 400 days.',
        querystring: z.object({
          tenantId: Id.optional(),
          action: AuditAction.optional(),
          actorId: Id.optional(),
          from: Instant.optional(),
          to: Instant.optional(),
          ...pageQuery({ after: Id }),
        }),
        response: { 200: z.array(AuditEntry) },
      },
    },
    async (request, reply) => {
      const { cursor, ...filter } = request.query;
      return sendPage(reply, await listAuditEntries(request.ctx, { ...filter, after: cursor }));
    },
  );
}
