import type { ServerStatus } from '@portal/client/interface';

type ServerState = ServerStatus['state'];

/** From the worst to the best. */
export const serverOrder: readonly ServerState[] = ['critical', 'warning', 'unknown', 'ok'];

export const serverStatus = { critical: 'error', warning: 'warning', unknown: 'unknown', ok: 'ok' } as const;
