import type { TenderSource } from '@portal/client/interface';
import { Status, type StatusKind } from '../ui/status.tsx';
import { sourceErrorText } from './sources-errors.ts';
import { texts } from './sources-texts.ts';

const kinds: Record<TenderSource['state'], StatusKind> = {
  off: 'unknown',
  new: 'info',
  running: 'info',
  ok: 'ok',
  failed: 'error',
  gone: 'error',
};

/** The state of a source, and what went wrong at its last read. */
export function SourceState({ source: { state, error } }: { source: Pick<TenderSource, 'state' | 'error'> }) {
  return (
    <>
      <Status kind={state === 'ok' && error ? 'warning' : kinds[state]}>{texts.value.states[state]}</Status>
      {error && <div>{sourceErrorText(error)}</div>}
    </>
  );
}
