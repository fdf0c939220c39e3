import { useLocation } from 'preact-iso/router';
import { Dialog } from '../ui/dialog.tsx';
import { texts } from './form-texts.ts';
import { serverPath } from './server-filter.ts';
import { ServerForm } from './server-form.tsx';

/** The form of a new server. Its page then shows the first check. */
export function ServerDialog({ onClose }: { onClose: () => void }) {
  const { route: go } = useLocation();
  return (
    <Dialog title={texts.value.addTitle} size="wide" onClose={onClose}>
      <ServerForm server={null} onSaved={({ id }) => go(serverPath(id))} onCancel={onClose} />
    </Dialog>
  );
}
