import { useQuery } from '@tanstack/preact-query';
import { BellOff, Check } from 'lucide';
import type { Reminder, ReminderNotice } from '@portal/client/interface';
import { portal } from '../portal.ts';
import { useKeptFocus } from '../reminders/kept-focus.ts';
import type { useNotices } from '../reminders/notices.ts';
import { useReminderActions } from '../reminders/reminder-actions.ts';
import { SnoozeMenu } from '../reminders/snooze-menu.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { DesktopNotices } from './desktop-notices.tsx';
import { texts as panelTexts } from './notice-texts.ts';
import s from './notices.module.css';
import { texts } from './texts.ts';

interface NoticePanelProps {
  query: ReturnType<typeof useNotices>;
  /** Later notices are marked as unread. */
  readUntil: string | null;
  onClose: () => void;
}

const maxShown = 50;

export function NoticePanel({ query, readUntil, onClose }: NoticePanelProps) {
  const t = panelTexts.value;
  const keptFocus = useKeptFocus<HTMLUListElement>();
  // Only a reminder that is still due at the time of the notice can be done or snoozed.
  const due = useQuery({
    queryKey: ['reminders', 'due'],
    queryFn: ({ signal }) => portal.get('/reminders', { params: { query: { state: 'due' } }, signal }),
    staleTime: 0,
  });
  const dueOf = (notice: ReminderNotice) =>
    due.data?.find(({ id, dueAt }) => id === notice.reminderId && dueAt === notice.dueAt);
  return (
    <>
      <div class={s.head}>
        <h2>{texts.value.notices}</h2>
        <a href="/app/reminders" onClick={onClose}>
          {t.allReminders}
        </a>
      </div>
      <QueryView
        query={query}
        empty={({ notices }) => notices.length === 0}
        emptyState={<EmptyState icon={BellOff} title={t.none} />}
      >
        {({ notices }) => (
          <ul class={s.list} {...keptFocus}>
            {notices.slice(0, maxShown).map((notice) => (
              <Notice
                key={notice.id}
                notice={notice}
                reminder={dueOf(notice)}
                isUnread={readUntil === null || notice.at > readUntil}
                onClose={onClose}
              />
            ))}
          </ul>
        )}
      </QueryView>
      <DesktopNotices />
    </>
  );
}

interface NoticeProps {
  notice: ReminderNotice;
  reminder: Reminder | undefined;
  isUnread: boolean;
  onClose: () => void;
}

function Notice({ notice, reminder, isUnread, onClose }: NoticeProps) {
  const t = panelTexts.value;
  const { finish, snooze } = useReminderActions();
  return (
    <li class={s.notice} data-unread={isUnread} tabIndex={-1}>
      <a href={`/app/reminders${reminder ? '?state=due' : ''}`} dir="auto" onClick={onClose}>
        {isUnread && <VisuallyHidden>{t.unread} </VisuallyHidden>}
        {notice.title}
      </a>
      <span class={s.at}>
        <Time value={notice.at} style="relative" />
      </span>
      {reminder && (
        <div class={s.actions}>
          <Button icon={Check} busy={finish.isPending} onClick={() => finish.mutate(reminder.id)}>
            {t.done}
          </Button>
          <SnoozeMenu onSnooze={(preset) => snooze.mutate({ id: reminder.id, preset })} />
        </div>
      )}
    </li>
  );
}
