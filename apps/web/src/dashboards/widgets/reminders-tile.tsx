import { AlarmClock, Check, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import type { Reminder } from '@portal/client/interface';
import { instantOf, quickTimes } from '../../berlin-time.ts';
import { formatDateTime, formatTime } from '../../language.ts';
import { useMutation } from '../../mutation.ts';
import { usePolled } from '../../polling.ts';
import { portal } from '../../portal.ts';
import { actionTexts } from '../../reminders/action-texts.ts';
import { deleted } from '../../reminders/deletion.ts';
import { useKeptFocus } from '../../reminders/kept-focus.ts';
import { refreshReminders, useReminderActions } from '../../reminders/reminder-actions.ts';
import { IconButton } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { readReminders } from './configs.ts';
import css from './reminders.module.css';
import { texts } from './small-texts.ts';
import type { TileProps } from './tile-props.ts';
import { ErrorLine, TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';

const intervalMs = 60_000;
/** Rows that a tile draws; the page has the others. */
const maxRows = 50;
const maxDone = 10;

/** Due and coming reminders, with those done lately if asked for. */
export function RemindersTile({ config }: TileProps) {
  const t = texts.value;
  const { showDone } = readReminders(config);
  const open = usePolled({
    queryKey: ['reminders', 'open'],
    queryFn: ({ signal }) => portal.get('/reminders', { signal }),
    intervalMs,
  });
  const shown = (reminders: Reminder[]) => reminders.filter(({ id }) => !deleted.value.has(id));
  const keptFocus = useKeptFocus<HTMLDivElement>();
  return (
    <div class={css.reminders}>
      <TileBody>
        <div {...keptFocus}>
          <TileView query={open} isEmpty={(all) => shown(all).length === 0} empty={t.noReminders}>
            {(all) => (
              <>
                <ul class={tile.list}>
                  {shown(all)
                    .slice(0, maxRows)
                    .map((reminder) => (
                      <OpenReminder key={reminder.id} reminder={reminder} />
                    ))}
                </ul>
                {all.length > maxRows && <a href="/app/reminders">{t.moreReminders(all.length - maxRows)}</a>}
              </>
            )}
          </TileView>
        </div>
        {showDone && open.data && <DoneReminders />}
      </TileBody>
      <QuickAdd />
    </div>
  );
}

const presets = ['in10min', 'in1h', 'thisEvening', 'tomorrowMorning', 'nextWeek'] as const;

function OpenReminder({ reminder }: { reminder: Reminder }) {
  const t = texts.value;
  const { finish, snooze } = useReminderActions();
  const { id, title, note, isDue } = reminder;
  return (
    <li class={tile.row} tabIndex={-1}>
      <div class={tile.main}>
        <span dir="auto" title={note ?? undefined}>
          {title}
        </span>
        <DueTime reminder={reminder} />
      </div>
      {isDue && (
        <>
          <IconButton icon={Check} label={t.finish(title)} busy={finish.isPending} onClick={() => finish.mutate(id)} />
          <Menu
            icon={AlarmClock}
            label={t.snooze(title)}
            items={presets.map((preset) => ({
              label: presetLabel(preset),
              onSelect: () => snooze.mutate({ id, preset }),
            }))}
          />
        </>
      )}
    </li>
  );
}

/** “This evening” is the next one: of tomorrow, if it has begun. */
function presetLabel(preset: (typeof presets)[number]): string {
  const labels = actionTexts.value.presets;
  const hasBegun = preset === 'thisEvening' && !quickTimes(Date.now()).thisEvening;
  return hasBegun ? labels.nextEvening : labels[preset];
}

function DueTime({ reminder: { dueAt, dueLabel, isDue } }: { reminder: Reminder }) {
  const t = texts.value;
  const when = dueLabel ? (
    <>
      {t[dueLabel]} <Time value={dueAt} style="time" />
    </>
  ) : (
    <Time value={dueAt} />
  );
  return (
    <span class={tile.muted}>
      {isDue && <Status kind="warning">{t.isDue}</Status>} {when}
    </span>
  );
}

function DoneReminders() {
  const t = texts.value;
  const done = usePolled({
    queryKey: ['reminders', 'done'],
    queryFn: ({ signal }) => portal.get('/reminders', { params: { query: { state: 'done' } }, signal }),
    intervalMs,
  });
  return (
    <>
      <h3>{t.done}</h3>
      <TileView query={done} empty={t.noneDone}>
        {(reminders) => (
          <ul class={tile.list}>
            {reminders
              .toSorted((a, b) => (b.doneAt ?? '').localeCompare(a.doneAt ?? ''))
              .slice(0, maxDone)
              .map(({ id, title, doneAt }) => (
                <li key={id} class={tile.row}>
                  <div class={tile.main}>
                    <s dir="auto">{title}</s>
                    {doneAt && (
                      <span class={tile.muted}>
                        {t.doneAt} <Time value={doneAt} />
                      </span>
                    )}
                  </div>
                </li>
              ))}
          </ul>
        )}
      </TileView>
    </>
  );
}

const choices = ['in1h', 'thisEvening', 'tomorrowMorning', 'nextWeek'] as const;
type Choice = (typeof choices)[number];

/** A title and one of the usual times; the page of the reminders takes any time. */
function QuickAdd() {
  const t = texts.value;
  const [title, setTitle] = useState('');
  const [choice, setChoice] = useState<Choice>('tomorrowMorning');
  const times = timesOf();
  // The evening may have begun since it was chosen.
  const current = times[choice] ? choice : 'tomorrowMorning';
  const add = useMutation({
    mutationFn: (body: { title: string; dueAt: string }) => portal.post('/reminders', { body }),
    onSuccess: ({ title, dueAt, dueLabel }, sent) => {
      // What was typed meanwhile belongs to the next one.
      setTitle((typed) => (typed === sent.title ? '' : typed));
      const when = dueLabel ? `${t[dueLabel]} ${formatTime(dueAt)}` : formatDateTime(dueAt);
      showToast(t.isAdded(title, when), { kind: 'success' });
      void refreshReminders();
    },
  });
  return (
    <form
      class={css.add}
      aria-label={t.newReminder}
      onSubmit={(event) => {
        event.preventDefault();
        const time = timesOf()[current];
        if (!add.isPending) add.mutate({ title, dueAt: (time && instantOf(time)) ?? '' });
      }}
    >
      <input
        class={tile.input}
        aria-label={t.reminderTitle}
        placeholder={t.newReminder}
        dir="auto"
        required
        maxLength={200}
        value={title}
        onInput={({ currentTarget }) => setTitle(currentTarget.value)}
      />
      <select
        class={tile.input}
        aria-label={t.reminderDue}
        value={current}
        onChange={({ currentTarget }) => setChoice(currentTarget.value as Choice)}
      >
        {choices.map(
          (each) =>
            times[each] && (
              <option key={each} value={each}>
                {actionTexts.value.presets[each]}
              </option>
            ),
        )}
      </select>
      <IconButton type="submit" icon={Plus} label={t.addReminder} busy={add.isPending} />
      <ErrorLine error={add.error} />
    </form>
  );
}

function timesOf() {
  const { inAnHour, ...others } = quickTimes(Date.now());
  return { in1h: inAnHour, ...others };
}
