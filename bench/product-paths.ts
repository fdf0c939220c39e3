import type { ProductServer } from '@portal/testing/servers/products/product-server';

export type Product = Pick<ProductServer, 'kind' | 'address' | 'accounts'>;

/** The calls to each product in an ordinary poll. */
export const paths: Record<Product['kind'], readonly string[]> = {
  virtualization: [
    '/version',
    '/cluster/resources',
    '/cluster/status',
    '/cluster/tasks',
    '/cluster/backup',
    '/cluster/backup-info/not-backed-up',
    '/cluster/ha/status/current',
  ],
  backup: [
    '/version',
    '/status/datastore-usage',
    '/admin/datastore',
    '/nodes/localhost/status',
    '/admin/gc',
    '/admin/verify',
    '/admin/sync?sync-direction=all',
    '/admin/prune',
    '/nodes/localhost/tasks?since=1&errors=1&limit=100',
  ],
  'mail-gateway': [
    '/version',
    '/nodes',
    '/nodes/pmg1/status',
    '/config/cluster/status?list_single_node=1',
    '/statistics/mail',
    '/quarantine/spamstatus',
    '/quarantine/virusstatus',
    '/nodes/pmg1/postfix/qshape?queue=deferred',
    '/nodes/pmg1/postfix/qshape?queue=active',
    '/nodes/pmg1/services',
    '/nodes/pmg1/clamav/database',
  ],
};
