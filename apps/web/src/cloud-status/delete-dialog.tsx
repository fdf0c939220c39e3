import type { CloudInstance } from '@portal/client/interface';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { deleteCloud } from './clouds.ts';
import { texts } from './texts.ts';

interface DeleteDialogProps {
  cloud: CloudInstance;
  onDeleted?: (() => void) | undefined;
  onClose: () => void;
}

export function DeleteDialog({ cloud, onDeleted, onClose }: DeleteDialogProps) {
  const t = texts.value;
  const confirm = async () => {
    await deleteCloud(cloud);
    onDeleted?.();
  };
  return (
    <ConfirmDialog title={t.deleteTitle} confirmLabel={t.delete} danger onConfirm={confirm} onClose={onClose}>
      {t.deleteText(cloud.customerName)}
    </ConfirmDialog>
  );
}
