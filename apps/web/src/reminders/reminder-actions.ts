import { PortalError } from '@portal/client/portal-error';
import { formatDateTime } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { showToast } from '../ui/toast.tsx';
import { actionTexts } from './action-texts.ts';

export type SnoozePreset = 'in10min' | 'in1h' | 'thisEvening' | 'tomorrowMorning' | 'nextWeek';

/** Both need a reminder that is due. What became of them is shown as a message. */
export function useReminderActions() {
  const finish = useMutation({
    mutationFn: (id: string) => portal.post('/reminders/{id}/done', { params: { path: { id } } }),
    onSuccess: () => showToast(actionTexts.value.finished, { kind: 'success' }),
    onError: showRefusal,
    onSettled: refreshReminders,
  });
  const snooze = useMutation({
    mutationFn: ({ id, ...body }: { id: string; preset: SnoozePreset }) =>
      portal.post('/reminders/{id}/snooze', { params: { path: { id } }, body }),
    onSuccess: ({ dueAt }) => showSnoozed(dueAt),
    onError: showRefusal,
    onSettled: refreshReminders,
  });
  return { finish, snooze };
}

export const refreshReminders = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['reminders'] });

export const showSnoozed = (dueAt: string): void =>
  showToast(actionTexts.value.snoozedUntil(formatDateTime(dueAt)), { kind: 'success' });

export function showRefusal(error: unknown): void {
  const t = actionTexts.value;
  const code = error instanceof PortalError ? error.code : '';
  const words: Record<string, string> = t.refusals;
  showToast(words[code] ?? t.failed, { kind: 'error' });
}
