import { useQuery } from '@tanstack/preact-query';
import { BellOff, Check, Pencil, Plus, Trash } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Reminder } from '@portal/client/interface';
import { dayAt } from '../berlin-time.ts';
import { formatDay } from '../language.ts';
import { portal } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Page, Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { deleted, deleteReminder } from './deletion.ts';
import { groupReminders, type ReminderFilter, type ReminderGroup } from './group-reminders.ts';
import { useKeptFocus } from './kept-focus.ts';
import { useReminderActions } from './reminder-actions.ts';
import { ReminderDialog } from './reminder-dialog.tsx';
import s from './reminders.module.css';
import { SnoozeDialog } from './snooze-dialog.tsx';
import { SnoozeMenu } from './snooze-menu.tsx';
import { texts } from './texts.ts';

type OpenDialog = { kind: 'new' } | { kind: 'edit' | 'snooze'; reminder: Reminder };

const filters: ReminderFilter[] = ['open', 'due', 'done'];
const pathOf = (filter: ReminderFilter) => `/app/reminders${filter === 'open' ? '' : `?state=${filter}`}`;

/** The person's reminders. The address says which of them are listed (`?state=`), and may open the form for a new one (`?new=1`). */
export function RemindersPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filter = filters.find((one) => one === params['state']) ?? 'open';
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const openList = useReminders('open', true);
  const doneList = useReminders('done', filter === 'done');
  const keptFocus = useKeptFocus<HTMLDivElement>();
  const query = filter === 'done' ? doneList : openList;

  const shown = (reminders: readonly Reminder[]) => reminders.filter(({ id }) => !deleted.value.has(id));
  const open = openList.data && shown(openList.data);
  const counts: Partial<Record<ReminderFilter, number>> = open
    ? { open: open.length, due: open.filter(({ isDue }) => isDue).length }
    : {};
  const isCreating = dialog?.kind === 'new' || params['new'] !== undefined;
  const closeDialog = () => {
    setDialog(null);
    if (params['new'] !== undefined) go(pathOf(filter), true);
  };
  const addButton = (
    <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
      {t.add}
    </Button>
  );

  return (
    <Page title={pageNames.value.reminders} actions={addButton}>
      <Tabs
        label={t.filters}
        current={filter}
        tabs={filters.map((name) => ({
          name,
          label: (
            <>
              {t.filter[name]} {counts[name] !== undefined && <Badge>{counts[name]}</Badge>}
            </>
          ),
          href: pathOf(name),
        }))}
      />
      <div class={s.groups} {...keptFocus}>
        <QueryView query={query}>
          {(reminders) => {
            const groups = groupReminders(shown(reminders), filter);
            if (groups.length === 0) return <NoReminders filter={filter} />;
            return groups.map((group) => (
              <Section key={group.key} title={titleOf(group)}>
                <ul class={s.list}>
                  {group.reminders.map((reminder) => (
                    <Item
                      key={reminder.id}
                      reminder={reminder}
                      // The heading names the day, except for what is due.
                      timeStyle={group.key === 'due' ? 'datetime' : 'time'}
                      onOpen={(kind) => setDialog({ kind, reminder })}
                    />
                  ))}
                </ul>
              </Section>
            ));
          }}
        </QueryView>
        {filter === 'done' && <p class={s.hint}>{t.doneKept}</p>}
      </div>
      {isCreating && <ReminderDialog onClose={closeDialog} />}
      {dialog?.kind === 'edit' && <ReminderDialog reminder={dialog.reminder} onClose={closeDialog} />}
      {dialog?.kind === 'snooze' && <SnoozeDialog reminder={dialog.reminder} onClose={closeDialog} />}
    </Page>
  );
}

const useReminders = (state: 'open' | 'done', enabled: boolean) =>
  useQuery({
    queryKey: ['reminders', state],
    queryFn: ({ signal }) => portal.get('/reminders', { params: { query: { state } }, signal }),
    enabled,
  });

function titleOf({ key, label, reminders }: ReminderGroup): string {
  if (label) return texts.value.groups[label];
  const at = reminders[0]?.dueAt ?? key;
  // A day of this year needs no year.
  return key.startsWith(dayAt(Date.now()).slice(0, 4)) ? formatDay(at) : `${formatDay(at)} ${key.slice(0, 4)}`;
}

function NoReminders({ filter }: { filter: ReminderFilter }) {
  const t = texts.value;
  if (filter === 'open')
    return (
      <EmptyState icon={BellOff} title={t.noneOpen}>
        {t.noneOpenText}
      </EmptyState>
    );
  return <EmptyState icon={BellOff} title={filter === 'due' ? t.noneDue : t.noneDone} />;
}

interface ItemProps {
  reminder: Reminder;
  timeStyle: 'time' | 'datetime';
  onOpen: (kind: 'edit' | 'snooze') => void;
}

function Item({ reminder, timeStyle, onOpen }: ItemProps) {
  const t = texts.value;
  const { finish, snooze } = useReminderActions();
  const { id, title, note, dueAt, isDue, doneAt } = reminder;
  return (
    <li class={s.item} tabIndex={-1} data-due={isDue || undefined}>
      <div class={s.text}>
        <h3 dir="auto">{title}</h3>
        {note && (
          <p class={s.note} dir="auto">
            {note}
          </p>
        )}
        <p class={s.meta}>
          <Time value={dueAt} style={timeStyle} />
          {doneAt && (
            <span>
              {t.doneAt} <Time value={doneAt} />
            </span>
          )}
          <MailState reminder={reminder} />
        </p>
      </div>
      <div class={s.actions}>
        {isDue && (
          <>
            <Button icon={Check} busy={finish.isPending} onClick={() => finish.mutate(id)}>
              {t.done}
            </Button>
            <SnoozeMenu onSnooze={(preset) => snooze.mutate({ id, preset })} onOther={() => onOpen('snooze')} />
          </>
        )}
        {!isDue && !doneAt && <IconButton icon={Pencil} label={t.editOf(title)} onClick={() => onOpen('edit')} />}
        <IconButton icon={Trash} label={t.deleteOf(title)} onClick={() => deleteReminder(reminder)} />
      </div>
    </li>
  );
}

function MailState({ reminder }: { reminder: Reminder }) {
  const t = texts.value;
  const { emailEnabled, emailSentAt, emailAttempts, isDue, doneAt } = reminder;
  if (emailSentAt) {
    return (
      <span>
        {t.mailSent} <Time value={emailSentAt} />
      </span>
    );
  }
  if (!emailEnabled || doneAt) return null;
  if (emailAttempts > 0) return <Status kind="warning">{t.mailFailed(emailAttempts)}</Status>;
  return <span>{isDue ? t.mailNotYet : t.mailPlanned}</span>;
}
