import { z } from 'zod';

/** Why a watched system could not be read (specification, Errors). */
export const FailureClass = z
  .enum(['zugang', 'rechte', 'antwortform', 'server', 'netz', 'zertifikat'])
  .describe(
    '`zugang` the sign-in was refused · `rechte` a right is missing · `antwortform` the answer has an unexpected form · `server` the server failed · `netz` the server was not reached · `zertifikat` the server’s certificate is not valid',
  );
export type FailureClass = z.output<typeof FailureClass>;

/** The class of an answer that is no success (contract section 8). */
export function classOfStatus(status: number): FailureClass {
  if (status === 401) return 'zugang';
  if (status === 403) return 'rechte';
  // 429 comes from a proxy in front: it is busy, not wrong. Those of Proxmox’s own cluster, 595 to 599, are above 500 too.
  if (status === 429 || (status >= 500 && status !== 501)) return 'server';
  return 'antwortform';
}
