import type { ServerKind } from '@portal/domain/monitoring/servers';

/** How the sign-in of each product is written; all the rest of it is the same. */
export const dialects: Record<ServerKind, { token: ((id: string, secret: string) => string) | null; cookie: string }> =
  {
    virtualization: { token: (id, secret) => `PVEAPIToken=${id}=${secret}`, cookie: 'PVEAuthCookie' },
    backup: { token: (id, secret) => `PBSAPIToken=${id}:${secret}`, cookie: 'PBSAuthCookie' },
    'mail-gateway': { token: null, cookie: 'PMGAuthCookie' },
  };

/** Where the interface of every product begins. */
export const apiRoot = '/api2/json';
