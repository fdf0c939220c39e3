import { Bell } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReminderNotice } from '@portal/client/interface';
import { formatTime } from '../language.ts';
import { lazy } from '../lazy.tsx';
import { queryClient } from '../portal.ts';
import { unreadNotices } from '../reminders/notice-feed.ts';
import { useNotices } from '../reminders/notices.ts';
import { IconButton } from '../ui/button.tsx';
import { showToast } from '../ui/toast.tsx';
import s from './notices.module.css';
import { markSeen, seenUntil, wantsDesktopNotices } from './seen-notices.ts';
import { useTabTitle } from './tab-title.ts';
import { texts } from './texts.ts';

const NoticePanel = lazy(() => import('./notice-panel.tsx').then(({ NoticePanel }) => NoticePanel));

/** The bell: how many notices are unread, and the list of all. */
export function Notices() {
  const t = texts.value;
  const query = useNotices();
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  // What was unread when the list was opened stays marked in it.
  const [readUntil, setReadUntil] = useState<string | null>(null);
  const seen = seenUntil();
  const unread = query.data ? unreadNotices(query.data, seen).length : 0;
  const newest = query.data?.notices[0]?.at;
  useTabTitle(unread);
  useArrivals(query.data?.notices);

  useEffect(() => {
    if (isOpen && newest !== undefined) markSeen(newest);
  }, [isOpen, newest]);

  return (
    <span class={s.bell}>
      <IconButton
        icon={Bell}
        label={unread > 0 ? t.unreadNotices(unread) : t.notices}
        popovertarget="notices"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onMouseEnter={() => void NoticePanel.preload()}
      />
      {unread > 0 && (
        <span class={s.count} aria-hidden>
          {unread > 99 ? '99+' : unread}
        </span>
      )}
      <div
        ref={panel}
        class={s.panel}
        id="notices"
        popover="auto"
        role="dialog"
        aria-label={t.notices}
        onBeforeToggle={({ newState }) => {
          setOpen(newState === 'open');
          if (newState === 'open') setReadUntil(seen);
        }}
      >
        {isOpen && <NoticePanel query={query} readUntil={readUntil} onClose={() => panel.current?.hidePopover()} />}
      </div>
    </span>
  );
}

/** Tells of notices that arrive while the page is open, and loads the lists of reminders again. */
function useArrivals(notices: readonly ReminderNotice[] | undefined): void {
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (!notices) return;
    const before = known.current;
    known.current = new Set(notices.map(({ id }) => id));
    const arrived = before ? notices.filter(({ id }) => !before.has(id)) : [];
    const [first, ...others] = arrived;
    if (!first) return;
    const t = texts.value;
    showToast(others.length > 0 ? t.remindersDue(arrived.length) : t.reminderDue(first.title));
    // A person who looks at the page needs no second message.
    if (wantsDesktopNotices() && !document.hasFocus()) for (const notice of arrived.slice(0, 3)) showOnDesktop(notice);
    void queryClient.invalidateQueries({ queryKey: ['reminders'] });
  }, [notices]);
}

function showOnDesktop({ id, title, dueAt }: ReminderNotice): void {
  try {
    // Several tabs with the same tag show one message.
    const message = new Notification(texts.value.reminderDue(title), { body: formatTime(dueAt), tag: id });
    message.addEventListener('click', () => window.focus());
  } catch {
    // Some mobile browsers have no messages for pages; the toast is there.
  }
}
