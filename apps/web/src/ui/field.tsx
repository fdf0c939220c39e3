import { CircleAlert, Eye, EyeOff, Upload } from 'lucide';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import s from './field.module.css';
import { Icon } from './icon.tsx';
import { texts } from './texts.ts';
import { VisuallyHidden } from './visually-hidden.tsx';

interface ControlProps {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  required?: boolean;
}

interface Described {
  hint?: ComponentChildren;
  error?: string | undefined;
}

interface FieldProps extends Described {
  label: ComponentChildren;
  required?: boolean | undefined;
  children: (props: ControlProps) => VNode;
}

/** A label above a control, a hint and an error below it. */
export function Field({ label, required, children, ...described }: FieldProps) {
  const { control, notes } = useDescription(described);
  return (
    <div class={s.field}>
      <label class={s.label} data-required={required} for={control.id}>
        {label}
      </label>
      {children(required ? { ...control, required } : control)}
      {notes}
    </div>
  );
}

type TextType = 'text' | 'email' | 'password' | 'url' | 'number' | 'date' | 'datetime-local' | 'search' | 'color';

interface TextFieldProps extends Described {
  label: ComponentChildren;
  name: string;
  value: string;
  onInput: (value: string) => void;
  type?: TextType | undefined;
  required?: boolean | undefined;
  autocomplete?: string | undefined;
  placeholder?: string | undefined;
  maxLength?: number | undefined;
  min?: number | string | undefined;
  max?: number | string | undefined;
  step?: number | string | undefined;
  disabled?: boolean | undefined;
  autofocus?: boolean | undefined;
  multiline?: boolean | undefined;
  rows?: number | undefined;
}

export function TextField({
  label,
  hint,
  error,
  required,
  onInput,
  type = 'text',
  multiline = false,
  rows = 4,
  ...rest
}: TextFieldProps) {
  const focused = useFocusAtFirst<HTMLInputElement & HTMLTextAreaElement>(rest.autofocus);
  const isWritten = type === 'text' || type === 'search';
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(control) =>
        multiline ? (
          <textarea
            ref={focused}
            class={s.input}
            dir="auto"
            rows={rows}
            {...rest}
            {...control}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
        ) : (
          <input
            ref={focused}
            class={s.input}
            type={type}
            dir={isWritten ? 'auto' : undefined}
            {...rest}
            {...control}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

interface PasswordFieldProps extends Described {
  label: ComponentChildren;
  name: string;
  value: string;
  onInput: (value: string) => void;
  autocomplete: 'current-password' | 'new-password';
  required?: boolean | undefined;
  disabled?: boolean | undefined;
  placeholder?: string | undefined;
  autofocus?: boolean | undefined;
}

export function PasswordField({ label, hint, error, required, onInput, ...rest }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  const focused = useFocusAtFirst<HTMLInputElement>(rest.autofocus);
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(control) => (
        <div class={s.password}>
          <input
            ref={focused}
            class={s.input}
            type={isShown ? 'text' : 'password'}
            autocapitalize="off"
            autocorrect="off"
            spellcheck={false}
            {...rest}
            {...control}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          <IconButton
            icon={isShown ? EyeOff : Eye}
            label={texts.value.showPassword}
            pressed={isShown}
            disabled={rest.disabled}
            onClick={() => setShown(!isShown)}
          />
        </div>
      )}
    </Field>
  );
}

interface SelectFieldProps extends Described {
  label: ComponentChildren;
  name: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string; disabled?: boolean | undefined }[];
  required?: boolean | undefined;
  disabled?: boolean | undefined;
}

export function SelectField({ label, hint, error, required, options, onChange, ...rest }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(control) => (
        <select class={s.input} {...rest} {...control} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckFieldProps extends Described {
  label: ComponentChildren;
  name: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean | undefined;
}

export const CheckField = (props: CheckFieldProps) => <Tick {...props} />;

export const SwitchField = (props: CheckFieldProps) => <Tick {...props} isSwitch />;

function Tick({ label, hint, error, onChange, isSwitch, ...rest }: CheckFieldProps & { isSwitch?: boolean }) {
  const { control, notes } = useDescription({ hint, error });
  return (
    <div class={s.check}>
      <label>
        <input
          type="checkbox"
          {...(isSwitch && { role: 'switch', class: s.switch })}
          {...rest}
          {...control}
          onChange={({ currentTarget }) => {
            const { checked } = currentTarget;
            // The page decides; until it does, the box shows what the page has.
            currentTarget.checked = rest.checked;
            onChange(checked);
          }}
        />
        <span>{label}</span>
      </label>
      {notes}
    </div>
  );
}

interface RadioGroupProps<Value extends string> extends Described {
  legend: ComponentChildren;
  name: string;
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly {
    value: Value;
    label: ComponentChildren;
    hint?: ComponentChildren;
    disabled?: boolean | undefined;
  }[];
  disabled?: boolean | undefined;
}

export function RadioGroup<Value extends string>({
  legend,
  name,
  value,
  onChange,
  options,
  disabled,
  ...described
}: RadioGroupProps<Value>) {
  const { control, notes } = useDescription(described);
  return (
    <fieldset class={s.field} disabled={disabled} aria-describedby={control['aria-describedby']}>
      <legend class={s.label}>{legend}</legend>
      {options.map((option) => (
        <Radio
          key={option.value}
          {...option}
          name={name}
          checked={option.value === value}
          onChoose={() => onChange(option.value)}
        />
      ))}
      {notes}
    </fieldset>
  );
}

interface RadioProps {
  name: string;
  value: string;
  label: ComponentChildren;
  hint?: ComponentChildren;
  checked: boolean;
  disabled?: boolean | undefined;
  onChoose: () => void;
}

function Radio({ label, hint, onChoose, ...rest }: RadioProps) {
  const { control, notes } = useDescription({ hint });
  return (
    <div class={s.check}>
      <label>
        <input type="radio" {...rest} {...control} onChange={onChoose} />
        <span>{label}</span>
      </label>
      {notes}
    </div>
  );
}

interface FileFieldProps extends Described {
  label: string;
  accept: string;
  multiple?: boolean | undefined;
  onFiles: (files: File[]) => void;
  busy?: boolean | undefined;
  disabled?: boolean | undefined;
}

/** A button that chooses files, inside a zone that takes dropped ones. */
export function FileField({ label, accept, multiple = false, onFiles, busy, disabled, ...described }: FileFieldProps) {
  const t = texts.value;
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const { control, notes } = useDescription(described);
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])].slice(0, multiple ? undefined : 1);
    if (files.length > 0 && !busy && !disabled) onFiles(files);
  };
  return (
    <div class={s.field} role="group" aria-labelledby={`${control.id}-label`}>
      <span class={s.label} id={`${control.id}-label`}>
        {label}
      </span>
      <div
        class={s.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take(event.dataTransfer?.files);
        }}
      >
        <input
          ref={input}
          type="file"
          accept={accept}
          multiple={multiple}
          hidden
          onChange={({ currentTarget }) => {
            take(currentTarget.files);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
        <Button icon={Upload} busy={busy} disabled={disabled} {...control} onClick={() => input.current?.click()}>
          {multiple ? t.chooseFiles : t.chooseFile}
        </Button>
        <span>{t.dropFile}</span>
      </div>
      {notes}
    </div>
  );
}

/** The attributes that tie a control to its hint and error, and both of these. */
function useDescription({ hint, error }: Described): { control: ControlProps; notes: VNode } {
  const id = useId();
  const hintId = hint ? `${id}-hint` : '';
  const errorId = error ? `${id}-error` : '';
  const describedBy = `${errorId} ${hintId}`.trim();
  const control: ControlProps = { id };
  if (describedBy) control['aria-describedby'] = describedBy;
  if (error) control['aria-invalid'] = true;
  const notes = (
    <>
      {hint && (
        <div class={s.hint} id={hintId}>
          {hint}
        </div>
      )}
      {error && (
        <div class={s.error} id={errorId}>
          <Icon icon={CircleAlert} />
          <span>
            <VisuallyHidden>{texts.value.error}: </VisuallyHidden>
            {error}
          </span>
        </div>
      )}
    </>
  );
  return { control, notes };
}

/** Browsers obey `autofocus` only once after loading a page. */
function useFocusAtFirst<Control extends HTMLElement>(autofocus = false) {
  const control = useRef<Control>(null);
  useEffect(() => {
    if (autofocus) control.current?.focus();
  }, []);
  return control;
}
