import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { texts } from './form-texts.ts';
import { wantedLeave } from './unsaved.ts';

/** Asks whether to discard what is not saved. */
export function LeaveDialog() {
  const t = texts.value;
  const stay = () => {
    wantedLeave.value = null;
  };
  const discard = () => {
    const leave = wantedLeave.value;
    stay();
    leave?.();
  };
  return (
    <Dialog
      title={t.leaveTitle}
      size="small"
      onClose={stay}
      actions={
        <>
          <Button kind="primary" autofocus onClick={stay}>
            {t.stay}
          </Button>
          <Button kind="danger" onClick={discard}>
            {t.discard}
          </Button>
        </>
      }
    >
      <p>{t.leave}</p>
    </Dialog>
  );
}
