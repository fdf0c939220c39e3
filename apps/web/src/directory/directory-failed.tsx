import { RotateCw } from 'lucide';
import { PortalError } from '@portal/client/portal-error';
import { Button } from '../ui/button.tsx';
import { ErrorTrace, FailedState } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { directoryFailure } from './directory-failure.ts';
import { texts } from './texts.ts';

/** What the directory server did not do, and what helps. */
export function DirectoryFailed({ message }: { message: string }) {
  const { kind, text } = directoryFailure(message);
  return (
    <>
      <Status kind={kind === 'brake' ? 'warning' : 'error'}>
        <strong>{texts.value.failures[kind]}</strong>
      </Status>
      <p>{text}</p>
    </>
  );
}

/** A refused call that needs the directory server. */
export function DirectoryCallFailed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!(error instanceof PortalError) || error.code !== 'DIRECTORY_UNAVAILABLE')
    return <FailedState error={error} onRetry={onRetry} />;
  return (
    <div role="status">
      <DirectoryFailed message={error.message} />
      <ErrorTrace error={error} />
      <Button icon={RotateCw} onClick={onRetry}>
        {texts.value.retry}
      </Button>
    </div>
  );
}
