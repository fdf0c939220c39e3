import { useState } from 'preact/hooks';
import type { Reminder } from '@portal/client/interface';
import { instantOf, quickTimes } from '../berlin-time.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { DueTimeField } from './due-time-field.tsx';
import { refreshReminders, showSnoozed } from './reminder-actions.ts';
import { texts } from './texts.ts';

/** Snoozes a due reminder until a time that the person enters. */
export function SnoozeDialog({ reminder: { id, title }, onClose }: { reminder: Reminder; onClose: () => void }) {
  const t = texts.value;
  const [time, setTime] = useState(() => quickTimes(Date.now()).inAnHour);
  const snooze = useMutation({
    mutationFn: (until: string) => portal.post('/reminders/{id}/snooze', { params: { path: { id } }, body: { until } }),
    onSuccess: ({ dueAt }) => {
      showSnoozed(dueAt);
      onClose();
    },
    onSettled: refreshReminders,
  });

  const submit = async () => {
    const until = instantOf(time);
    if (until !== null) await snooze.mutateAsync(until);
    else document.querySelector<HTMLElement>('dialog [name="until"]')?.focus();
  };

  return (
    <Dialog title={t.snoozeTitle} onClose={onClose}>
      <Form
        onSubmit={submit}
        error={snooze.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={snooze.isPending}>
              {t.snooze}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <p dir="auto">{title}</p>
        <DueTimeField name="until" value={time} onChange={setTime} error={fieldErrors(snooze.error)['until']} />
      </Form>
    </Dialog>
  );
}
