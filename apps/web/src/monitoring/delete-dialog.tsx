import type { Server } from '@portal/client/interface';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { showToast } from '../ui/toast.tsx';
import { deleteServer } from './servers.ts';
import { texts } from './texts.ts';

interface DeleteDialogProps {
  server: Server;
  onDeleted: () => void;
  onClose: () => void;
}

export function DeleteDialog({ server, onDeleted, onClose }: DeleteDialogProps) {
  const t = texts.value;
  const confirm = async () => {
    await deleteServer(server);
    showToast(t.deleted(server.name), { kind: 'success' });
    onDeleted();
  };
  return (
    <ConfirmDialog title={t.deleteTitle} confirmLabel={t.delete} danger onConfirm={confirm} onClose={onClose}>
      <p>{t.deleteText(server.name)}</p>
    </ConfirmDialog>
  );
}
