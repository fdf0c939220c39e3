import { useEffect, useState } from 'preact/hooks';
import type { LdapSyncPreview } from '@portal/client/interface';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { Progress } from '../ui/states.tsx';
import { DirectoryCallFailed } from './directory-failed.tsx';
import { usePreview } from './queries.ts';
import { texts } from './texts.ts';

interface ForceDialogProps {
  onForce: () => Promise<unknown>;
  onClose: () => void;
}

const namesShown = 10;

/** Reads the directory again, names what a forced synchronization takes away now, and asks. */
export function ForceDialog({ onForce, onClose }: ForceDialogProps) {
  const t = texts.value;
  const preview = usePreview();
  const { data, error, isFetching } = preview;
  // An older preview may name other accounts than those that go now.
  const [isFresh, setFresh] = useState(false);
  const read = () => void preview.refetch().finally(() => setFresh(true));
  useEffect(read, []);
  if (isFresh && data && !error && !isFetching)
    return (
      <ConfirmDialog title={t.forceTitle} confirmLabel={t.forceStart} danger onConfirm={onForce} onClose={onClose}>
        <Losses preview={data} />
      </ConfirmDialog>
    );
  return (
    <Dialog title={t.forceTitle} size="small" onClose={onClose} actions={<Button onClick={onClose}>{t.cancel}</Button>}>
      {isFresh && error && !isFetching ? (
        <DirectoryCallFailed error={error} onRetry={read} />
      ) : (
        <Progress label={t.reading} />
      )}
    </Dialog>
  );
}

function Losses({ preview: { counts, changes } }: { preview: LdapSyncPreview }) {
  const t = texts.value;
  const names = changes
    .filter(({ kind }) => kind === 'deactivate')
    .slice(0, namesShown)
    .map(({ username }) => username);
  return (
    <>
      <p>{t.forceLead}</p>
      <ul>
        <li>
          <strong>{t.forceDeactivated(counts.deactivated)}</strong>{' '}
          {names.length > 0 && t.forceWho(names.join(', '), counts.deactivated - names.length)}
        </li>
        {counts.created + counts.updated + counts.reactivated > 0 && (
          <li>{t.forceOthers(counts.created, counts.updated, counts.reactivated)}</li>
        )}
        {counts.groups + counts.memberships > 0 && <li>{t.forceGroups(counts.groups, counts.memberships)}</li>}
      </ul>
      <p>{t.forceNote}</p>
    </>
  );
}
