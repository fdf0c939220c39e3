import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { texts } from './form-texts.ts';
import { Table } from './table.tsx';
import { texts as uiTexts } from './texts.ts';

/** The fields of `keys` that differ between the row that a form was opened with and the row as it is now; compared by JSON. */
export const changedSince = <Row extends object>(opened: Row, now: Row, keys: readonly (keyof Row)[]): (keyof Row)[] =>
  keys.filter((key) => JSON.stringify(opened[key]) !== JSON.stringify(now[key]));

interface Change {
  label: string;
  theirs: string;
  mine: string;
}

interface ChangedMeanwhileDialogProps {
  changes: readonly Change[];
  onKeepMine: () => void;
  onTakeTheirs: () => void;
  /** The person wants to edit on. */
  onClose: () => void;
}

/** Another administrator saved what this form is about to overwrite: shows both and lets the person choose. */
export function ChangedMeanwhileDialog({ changes, onKeepMine, onTakeTheirs, onClose }: ChangedMeanwhileDialogProps) {
  const t = texts.value;
  return (
    <Dialog
      title={t.changedTitle}
      onClose={onClose}
      actions={
        <>
          <Button kind="primary" onClick={onKeepMine}>
            {t.keepMine}
          </Button>
          <Button onClick={onTakeTheirs}>{t.takeTheirs}</Button>
          <Button kind="ghost" autofocus onClick={onClose}>
            {uiTexts.value.cancel}
          </Button>
        </>
      }
    >
      <p>{t.changed}</p>
      <Table
        caption={t.changedTitle}
        columns={[
          { key: 'field', label: t.field, cell: ({ label }: Change) => label },
          { key: 'theirs', label: t.theirs, cell: ({ theirs }: Change) => theirs || t.none },
          { key: 'mine', label: t.mine, cell: ({ mine }: Change) => mine || t.none },
        ]}
        rows={changes}
        rowKey={({ label }) => label}
        empty={null}
      />
    </Dialog>
  );
}
