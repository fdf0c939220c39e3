import { useMemo } from 'preact/hooks';
import { Combobox } from '../../ui/combobox.tsx';
import { SelectField, SwitchField, TextField } from '../../ui/field.tsx';
import { errorOf, numberShown, numberTyped, withKey } from './config-edits.ts';
import { readClock, readEmbeddedPage, readFavorites, readReminders } from './configs.ts';
import { SettingsForm } from './settings-form.tsx';
import { texts } from './settings-texts.ts';
import type { SettingsProps } from './tile-props.ts';

export function FavoritesSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { showLabels } = readFavorites(config);
  return (
    <SettingsForm errors={errors}>
      <TextField
        label={t.columns}
        name="columns"
        type="number"
        min={1}
        max={12}
        value={numberShown(config, 'columns')}
        onInput={(typed) => onChange(withKey(config, 'columns', numberTyped(typed)))}
        hint={t.columnsHint}
        error={errorOf(errors, 'columns')}
      />
      <SwitchField
        label={t.showLabels}
        name="showLabels"
        checked={showLabels}
        onChange={(showLabels) => onChange({ ...config, showLabels })}
        error={errorOf(errors, 'showLabels')}
      />
    </SettingsForm>
  );
}

export function RemindersSettings({ config, onChange, errors }: SettingsProps) {
  return (
    <SettingsForm errors={errors}>
      <SwitchField
        label={texts.value.showDone}
        name="showDone"
        checked={readReminders(config).showDone}
        onChange={(showDone) => onChange({ ...config, showDone })}
        error={errorOf(errors, 'showDone')}
      />
    </SettingsForm>
  );
}

export function ClockSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { timeZone, showSeconds } = readClock(config);
  const zones = useMemo(zoneItems, []);
  return (
    <SettingsForm errors={errors}>
      <Combobox
        label={t.timeZone}
        items={zones}
        value={timeZone}
        onSelect={(timeZone) => onChange({ ...config, timeZone })}
      />
      <SwitchField
        label={t.showSeconds}
        name="showSeconds"
        checked={showSeconds}
        onChange={(showSeconds) => onChange({ ...config, showSeconds })}
        error={errorOf(errors, 'showSeconds') ?? errorOf(errors, 'timeZone')}
      />
    </SettingsForm>
  );
}

const zoneItems = () =>
  [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((value) => ({
    value,
    label: value.replaceAll('_', ' '),
  }));

/** The only intervals that the service keeps; it rounds others to these. */
const reloadIntervalsSec = [0, 60, 300, 600, 1_800, 3_600];

export function EmbeddedPageSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { url, title, reloadIntervalSec } = readEmbeddedPage(config);
  // Only the address can be wrong.
  const { config: refusal, ...fieldErrors } = errors;
  return (
    <SettingsForm errors={fieldErrors}>
      <TextField
        label={t.address}
        name="url"
        type="url"
        value={url}
        onInput={(url) => onChange({ ...config, url })}
        hint={t.addressHint}
        error={errorOf(errors, 'url') ?? refusal}
        maxLength={2_048}
        required
      />
      <TextField
        label={t.title}
        name="title"
        value={title}
        onInput={(title) => onChange(withKey(config, 'title', title || undefined))}
        hint={t.titleHint}
        error={errorOf(errors, 'title')}
        maxLength={100}
      />
      <SelectField
        label={t.reload}
        name="reloadIntervalSec"
        value={String(reloadIntervalSec)}
        onChange={(value) => onChange({ ...config, reloadIntervalSec: Number(value) })}
        options={reloadIntervalsSec.map((seconds) => ({ value: String(seconds), label: t.every(seconds) }))}
        error={errorOf(errors, 'reloadIntervalSec')}
      />
    </SettingsForm>
  );
}
