import { z } from 'zod';

/** Why a monitored system could not be read. */
export const FailureClass = z
  .enum(['zugang', 'rechte', 'antwortform', 'server', 'netz', 'zertifikat'])
  .describe(
    '`zugang` the sign-in was refused · `rechte` a right is missing · `antwortform` the answer has an unexpected form · `server` the server failed · `netz` the server was not reached · `zertifikat` the server’s certificate is not valid',
  );
export type FailureClass = z.output<typeof FailureClass>;

/** The class of a failed answer by its status. */
export function classOfStatus(status: number): FailureClass {
  if (status === 401) return 'zugang';
  if (status === 403) return 'rechte';
  // 429 comes from a busy proxy in front. Proxmox uses 595 to 599 for errors of its cluster, so those count as server errors too.
  if (status === 429 || (status >= 500 && status !== 501)) return 'server';
  return 'antwortform';
}
