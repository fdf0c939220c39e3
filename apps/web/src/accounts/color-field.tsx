import { TextField } from '../ui/field.tsx';
import { colorOf } from './color.ts';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';

interface ColorFieldProps {
  label: string;
  name: string;
  /** As typed, which need not be a colour. */
  value: string;
  onInput: (value: string) => void;
  error?: string | undefined;
}

/** The colour chooser of the browser, and beside it the code for typing and pasting. */
export function ColorField({ label, name, value, onInput, error }: ColorFieldProps) {
  return (
    <div class={s.color} role="group" aria-label={label}>
      <TextField
        type="color"
        label={label}
        name={`${name}Chooser`}
        value={colorOf(value) ?? '#000000'}
        onInput={onInput}
      />
      <TextField label={texts.value.colorCode} name={name} value={value} onInput={onInput} error={error} />
    </div>
  );
}
