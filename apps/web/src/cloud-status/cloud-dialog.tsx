import { useState } from 'preact/hooks';
import type { CloudInstance } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { useStoredForm } from '../ui/use-stored-form.tsx';
import { checkCloud, keepCloud, readCloud } from './clouds.ts';
import { texts } from './texts.ts';

interface Draft {
  customerName: string;
  statusUrl: string;
  isActive: boolean;
}

interface CloudDialogProps {
  /** The cloud to change; left out for a new one. */
  cloud?: CloudInstance | undefined;
  onClose: () => void;
}

export const CloudDialog = ({ cloud, onClose }: CloudDialogProps) =>
  cloud ? <EditDialog cloud={cloud} onClose={onClose} /> : <NewDialog onClose={onClose} />;

function NewDialog({ onClose }: { onClose: () => void }) {
  const t = texts.value;
  const [draft, setDraft] = useState<Draft>({ customerName: '', statusUrl: '', isActive: true });
  const add = useMutation({
    // The draft comes along: the function may be that of an earlier drawing.
    mutationFn: (body: Draft) => portal.post('/cloud-status/instances', { body }),
    onSuccess: (cloud) => {
      keepCloud(cloud);
      if (cloud.isActive) {
        showToast(t.added(cloud.customerName), { kind: 'success' });
        // Otherwise the first result would take up to an hour.
        void checkCloud(cloud);
      } else showToast(t.saved, { kind: 'success' });
      onClose();
    },
  });
  return (
    <Dialog title={t.addTitle} onClose={onClose}>
      <Form
        onSubmit={() => add.mutateAsync(draft)}
        error={add.error}
        actions={<Buttons busy={add.isPending} {...{ onClose }} />}
      >
        <Fields draft={draft} error={add.error} onChange={(changes) => setDraft((now) => ({ ...now, ...changes }))} />
      </Form>
    </Dialog>
  );
}

function EditDialog({ cloud, onClose }: { cloud: CloudInstance; onClose: () => void }) {
  const t = texts.value;
  const { id } = cloud;
  const form = useStoredForm<CloudInstance, Draft>({
    row: cloud,
    draftOf: ({ customerName, statusUrl, isActive }) => ({ customerName, statusUrl, isActive }),
    read: () => readCloud(id),
    write: (draft) => portal.patch('/cloud-status/instances/{id}', { params: { path: { id } }, body: draft }),
    onSaved: (saved) => {
      keepCloud(saved);
      const isElsewhere = saved.statusUrl !== cloud.statusUrl && saved.isActive;
      showToast(isElsewhere ? t.savedAddress : t.saved, { kind: 'success' });
      onClose();
    },
    labels: { customerName: t.name, statusUrl: t.address, isActive: t.active },
    words: (field, draft) => (field === 'isActive' ? (draft.isActive ? t.yes : t.no) : draft[field]),
  });
  return (
    <Dialog title={t.editTitle} onClose={onClose}>
      <Form onSubmit={form.submit} error={form.error} actions={<Buttons busy={form.isSaving} {...{ onClose }} />}>
        <Fields draft={form.draft} error={form.error} onChange={form.change} />
      </Form>
      {form.question}
    </Dialog>
  );
}

function Buttons({ busy, onClose }: { busy: boolean; onClose: () => void }) {
  const t = texts.value;
  return (
    <>
      <Button type="submit" kind="primary" busy={busy}>
        {t.save}
      </Button>
      <Button onClick={onClose}>{t.cancel}</Button>
    </>
  );
}

interface FieldsProps {
  draft: Draft;
  error: unknown;
  onChange: (changes: Partial<Draft>) => void;
}

function Fields({ draft, error, onChange }: FieldsProps) {
  const t = texts.value;
  const refused = fieldErrors(error);
  return (
    <>
      <TextField
        label={t.name}
        name="customerName"
        hint={t.nameHint}
        required
        maxLength={200}
        value={draft.customerName}
        error={refused['customerName']}
        onInput={(customerName) => onChange({ customerName })}
      />
      <TextField
        label={t.address}
        name="statusUrl"
        type="url"
        hint={t.addressHint}
        required
        value={draft.statusUrl}
        error={refused['statusUrl']}
        onInput={(statusUrl) => onChange({ statusUrl })}
      />
      <SwitchField
        label={t.active}
        name="isActive"
        hint={t.activeHint}
        checked={draft.isActive}
        onChange={(isActive) => onChange({ isActive })}
      />
    </>
  );
}
