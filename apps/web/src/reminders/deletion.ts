import { signal } from '@preact/signals';
import type { Reminder } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { portal, queryClient } from '../portal.ts';
import { beforeLeaving } from '../shell/before-leaving.ts';
import { showToast } from '../ui/toast.tsx';
import { actionTexts } from './action-texts.ts';
import { forgetNotices } from './notices.ts';
import { refreshReminders } from './reminder-actions.ts';

/** Ids of reminders that the person has deleted. No list shows them, although the service may still have them. */
export const deleted = signal<ReadonlySet<string>>(new Set());

// The message ends earlier unless the person keeps it open.
const latestMs = 60_000;

/**
 * Deletes a reminder in a way that can be undone: the call goes out when the message with the button ends, and at once when the person
 * leaves the page. A reminder that could not be deleted comes back.
 */
export function deleteReminder({ id, title }: Pick<Reminder, 'id' | 'title'>): void {
  const t = actionTexts.value;
  let state: 'waiting' | 'sent' | 'undone' = 'waiting';
  const stopWaiting = () => {
    clearTimeout(timer);
    forgetTask();
  };
  const send = async () => {
    if (state !== 'waiting') return;
    state = 'sent';
    stopWaiting();
    await sendDeletion(id);
  };
  const undo = () => {
    if (state !== 'waiting') return showToast(t.tooLate, { kind: 'error' });
    state = 'undone';
    stopWaiting();
    show(id);
  };
  const timer = setTimeout(() => void send(), latestMs);
  const forgetTask = beforeLeaving(send);
  deleted.value = new Set([...deleted.value, id]);
  const options = { undo, onEnd: () => void send() };
  showToast(t.deleted(title), options);
}

async function sendDeletion(id: string): Promise<void> {
  const mutation = queryClient.getMutationCache().build(queryClient, {
    // The call outlives the page.
    mutationFn: () => portal.delete('/reminders/{id}', { params: { path: { id } }, keepalive: true }),
  });
  try {
    await mutation.execute(undefined);
  } catch (error) {
    if (!(error instanceof PortalError && error.code === 'NOT_FOUND')) {
      show(id);
      showToast(actionTexts.value.notDeleted, { kind: 'error' });
      return;
    }
  }
  forgetNotices(id);
  await refreshReminders();
  show(id);
}

/** Ends hiding: the lists of the service decide. */
function show(id: string): void {
  deleted.value = new Set([...deleted.value].filter((other) => other !== id));
}
