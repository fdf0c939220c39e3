import { Field } from '../ui/field.tsx';
import s from './profile.module.css';

interface RangeFieldProps {
  label: string;
  name: string;
  value: number;
  onInput: (value: number) => void;
  min: number;
  max: number;
  step?: number;
  /** The value in words. */
  text: string;
}

export function RangeField({ label, value, onInput, text, ...rest }: RangeFieldProps) {
  return (
    <Field label={`${label}: ${text}`}>
      {(control) => (
        <input
          type="range"
          class={s.range}
          value={value}
          aria-label={label}
          aria-valuetext={text}
          {...rest}
          {...control}
          onInput={({ currentTarget }) => onInput(currentTarget.valueAsNumber)}
        />
      )}
    </Field>
  );
}
