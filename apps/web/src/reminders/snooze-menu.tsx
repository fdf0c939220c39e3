import { AlarmClock } from 'lucide';
import { quickTimes } from '../berlin-time.ts';
import { Menu } from '../ui/menu.tsx';
import { actionTexts } from './action-texts.ts';
import type { SnoozePreset } from './reminder-actions.ts';

interface SnoozeMenuProps {
  onSnooze: (preset: SnoozePreset) => void;
  /** The person wants to enter a time. */
  onOther?: () => void;
}

export function SnoozeMenu({ onSnooze, onOther }: SnoozeMenuProps) {
  const t = actionTexts.value;
  const item = (preset: SnoozePreset, label = t.presets[preset]) => ({ label, onSelect: () => onSnooze(preset) });
  // The service takes the next evening.
  const isEvening = quickTimes(Date.now()).thisEvening === undefined;
  return (
    <Menu
      label={t.later}
      icon={AlarmClock}
      trigger="button"
      items={[
        item('in10min'),
        item('in1h'),
        item('thisEvening', isEvening ? t.presets.nextEvening : t.presets.thisEvening),
        item('tomorrowMorning'),
        item('nextWeek'),
        ...(onOther ? (['separator', { label: t.other, onSelect: onOther }] as const) : []),
      ]}
    />
  );
}
