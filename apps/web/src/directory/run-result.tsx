import type { LdapSyncRun } from '@portal/client/interface';
import { Status, type StatusKind } from '../ui/status.tsx';
import { Counts } from './counts.tsx';
import { DirectoryFailed } from './directory-failed.tsx';
import { SyncWarnings } from './sync-warnings.tsx';
import { texts } from './texts.ts';

const kinds: Record<LdapSyncRun['state'], StatusKind> = {
  queued: 'unknown',
  running: 'info',
  succeeded: 'ok',
  failed: 'error',
  blocked: 'warning',
};

export const RunState = ({ run: { state } }: { run: LdapSyncRun }) => (
  <Status kind={kinds[state]}>{texts.value.states[state]}</Status>
);

/** How a run ended, with all that it changed. */
export function RunResult({ run }: { run: LdapSyncRun }) {
  const { state, error, counts, warnings } = run;
  return (
    <>
      {error === null ? <RunState run={run} /> : <DirectoryFailed message={error} />}
      {state === 'blocked' && <p>{texts.value.nothingChanged}</p>}
      {(state === 'succeeded' || counts.read > 0) && <Counts counts={counts} />}
      <SyncWarnings warnings={warnings} />
    </>
  );
}
