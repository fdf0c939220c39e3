import { useQuery } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import type { Reminder } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { enteredTimeAt, instantOf, quickTimes } from '../berlin-time.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { DueTimeField } from './due-time-field.tsx';
import { refreshReminders } from './reminder-actions.ts';
import { texts } from './texts.ts';

interface ReminderDialogProps {
  /** Left out for a new one. */
  reminder?: Reminder;
  onClose: () => void;
}

interface Fields {
  title: string;
  note: string;
  dueAt: string;
  emailEnabled: boolean;
}

/** Creates a reminder, or changes one that is not due. */
export function ReminderDialog({ reminder, onClose }: ReminderDialogProps) {
  const t = texts.value;
  const [title, setTitle] = useState(reminder?.title ?? '');
  const [note, setNote] = useState(reminder?.note ?? '');
  const { current: initialTime } = useRef(reminder ? enteredTimeAt(reminder.dueAt) : quickTimes(Date.now()).inAnHour);
  const [time, setTime] = useState(initialTime);
  const [emailEnabled, setEmailEnabled] = useState(reminder?.emailEnabled ?? false);
  const save = useMutation({
    mutationFn: ({ dueAt, ...fields }: Fields) =>
      reminder
        ? portal.patch('/reminders/{id}', {
            params: { path: { id: reminder.id } },
            // An unchanged time keeps its seconds, and a mail for it is not sent again.
            body: { ...fields, ...(time !== initialTime && { dueAt }) },
          })
        : portal.post('/reminders', { body: { ...fields, dueAt } }),
    onSuccess: () => {
      showToast(reminder ? t.saved : t.created, { kind: 'success' });
      onClose();
    },
    onSettled: refreshReminders,
  });
  const errors = fieldErrors(save.error);

  const submit = async () => {
    const dueAt = instantOf(time);
    if (dueAt !== null) await save.mutateAsync({ title, note, dueAt, emailEnabled });
    else document.querySelector<HTMLElement>('dialog [name="dueAt"]')?.focus();
  };

  return (
    <Dialog title={reminder ? t.editOf(reminder.title) : t.add} onClose={onClose}>
      <Form
        onSubmit={submit}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.fieldTitle}
          name="title"
          required
          maxLength={200}
          value={title}
          onInput={setTitle}
          error={errors['title']}
        />
        <TextField
          label={t.fieldNote}
          name="note"
          multiline
          maxLength={10_000}
          value={note}
          onInput={setNote}
          error={errors['note']}
        />
        <DueTimeField name="dueAt" value={time} onChange={setTime} error={errors['dueAt']} />
        <MailSwitch checked={emailEnabled} onChange={setEmailEnabled} />
        {isLimit(save.error) && <p>{t.limit}</p>}
      </Form>
    </Dialog>
  );
}

const isLimit = (error: unknown): boolean => error instanceof PortalError && error.code === 'LIMIT_REACHED';

function MailSwitch({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  const t = texts.value;
  const { data: status } = useQuery({
    queryKey: ['reminders', 'email-status'],
    queryFn: ({ signal }) => portal.get('/reminders/email-status', { signal }),
  });
  return (
    <SwitchField
      label={t.mail}
      name="emailEnabled"
      checked={checked}
      onChange={onChange}
      // It can be switched off in any case.
      disabled={!checked && status?.available !== true}
      hint={status?.reason && t.mailReasons[status.reason]}
    />
  );
}
