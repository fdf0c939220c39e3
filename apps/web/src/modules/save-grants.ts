import { PortalError } from '@portal/client/portal-error';
import { portal } from '../portal.ts';
import type { GrantChange } from './grant-draft.ts';

const atOnce = 4;

export interface FailedChange {
  change: GrantChange;
  error: unknown;
}

/**
 * Sends changes one by one, a few at a time; `onSaved` follows each that arrived. Returns those that failed. Throws at once if nothing more
 * can succeed, because the session ended or the service is away.
 */
export async function saveGrants(
  changes: readonly GrantChange[],
  onSaved: (change: GrantChange) => void,
): Promise<FailedChange[]> {
  const waiting = [...changes];
  const failed: FailedChange[] = [];
  const worker = async () => {
    for (let change = waiting.shift(); change; change = waiting.shift()) {
      try {
        await saveGrant(change);
      } catch (error) {
        if (isFinal(error)) {
          waiting.length = 0;
          throw error;
        }
        failed.push({ change, error });
        continue;
      }
      onSaved(change);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const stopped = ends.find((end) => end.status === 'rejected');
  if (stopped) throw stopped.reason;
  return failed;
}

async function saveGrant({ subject: { type, id }, module, to }: GrantChange): Promise<void> {
  const target = { subjectType: type, subjectId: id, moduleKey: module };
  if (to !== null) {
    await portal.put('/module-grants', { body: { ...target, level: to } });
    return;
  }
  try {
    await portal.delete('/module-grants', { params: { query: target } });
  } catch (error) {
    // The grant is gone, which is what was wanted.
    if (!(error instanceof PortalError && error.code === 'NOT_FOUND')) throw error;
  }
}

const isFinal = (error: unknown): boolean =>
  !(error instanceof PortalError) || error.status === 0 || error.status === 401 || error.status === 403;
