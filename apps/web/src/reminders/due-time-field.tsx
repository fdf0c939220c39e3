import { useRef } from 'preact/hooks';
import { type EnteredTime, instantsAt, quickTimes } from '../berlin-time.ts';
import { Button } from '../ui/button.tsx';
import { RadioGroup, TextField } from '../ui/field.tsx';
import s from './reminders.module.css';
import { texts } from './texts.ts';

interface DueTimeFieldProps {
  name: string;
  value: EnteredTime;
  onChange: (value: EnteredTime) => void;
  error: string | undefined;
}

/** Date and time by the clock in Berlin, which skips an hour in spring and shows one twice in autumn. */
export function DueTimeField({ name, value, onChange, error }: DueTimeFieldProps) {
  const t = texts.value;
  // The choices stay as they were when the dialog opened.
  const { current: quick } = useRef(quickTimes(Date.now()));
  const count = instantsAt(value.clockTime).length;
  return (
    <>
      <TextField
        label={t.fieldDueAt}
        name={name}
        type="datetime-local"
        max="9999-12-31T23:59"
        required
        hint={t.dueAtHint}
        error={value.clockTime !== '' && count === 0 ? t.skipped : error}
        value={value.clockTime}
        onInput={(clockTime) => onChange({ clockTime: clockTime.slice(0, 16), isLater: false })}
      />
      {count === 2 && (
        <RadioGroup
          legend={t.twice}
          name={`${name}-which`}
          value={value.isLater ? 'second' : 'first'}
          onChange={(which) => onChange({ ...value, isLater: which === 'second' })}
          options={[
            { value: 'first', label: t.first },
            { value: 'second', label: t.second },
          ]}
        />
      )}
      <div class={s.quick} role="group" aria-label={t.quick}>
        {(['inAnHour', 'thisEvening', 'tomorrowMorning', 'nextWeek'] as const).map((choice) => {
          const time = quick[choice];
          return (
            time && (
              <Button key={choice} size="small" onClick={() => onChange(time)}>
                {t[choice]}
              </Button>
            )
          );
        })}
      </div>
    </>
  );
}
