import type { ServerKind } from '@portal/domain/monitoring/servers';

/** How each product writes its sign-in. Everything else is the same for all products. */
export const dialects: Record<ServerKind, { token: ((id: string, secret: string) => string) | null; cookie: string }> =
  {
    virtualization: { token: (id, secret) => `PVEAPIToken=${id}=${secret}`, cookie: 'PVEAuthCookie' },
    backup: { token: (id, secret) => `PBSAPIToken=${id}:${secret}`, cookie: 'PBSAuthCookie' },
    'mail-gateway': { token: null, cookie: 'PMGAuthCookie' },
  };

/** The API root of every product. */
export const apiRoot = '/api2/json';
