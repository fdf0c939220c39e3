import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import css from './field.module.css';
import { Field, PasswordField } from './field.tsx';
import { texts } from './form-texts.ts';
import { Status } from './status.tsx';

interface SecretFieldProps {
  label: string;
  name: string;
  /** Empty keeps what is stored. */
  value: string;
  onInput: (value: string) => void;
  isStored: boolean;
  /** What is stored does not count for what the form says now. */
  mustGiveAgain?: boolean | undefined;
  required?: boolean | undefined;
  disabled?: boolean | undefined;
  hint?: ComponentChildren;
  error?: string | undefined;
}

/** A secret that the service never returns: it is shown as stored, and can be kept or replaced. */
export function SecretField({ isStored, mustGiveAgain = false, value, onInput, ...rest }: SecretFieldProps) {
  const t = texts.value;
  const [isReplacing, setReplacing] = useState(false);
  const typed = useRef(value);
  // The form was saved or reset; emptying the field by hand keeps it open.
  useEffect(() => {
    if (value === '' && typed.current !== '') setReplacing(false);
    typed.current = value;
  }, [value]);
  const input = (text: string) => {
    typed.current = text;
    onInput(text);
  };

  const isGivenAgain = isStored && mustGiveAgain;
  const isOpen = !isStored || mustGiveAgain || isReplacing || value !== '' || Boolean(rest.error);
  if (!isOpen) {
    const { label, hint, disabled } = rest;
    return (
      <Field label={label} hint={hint ?? t.storedHint}>
        {(control) => (
          <div class={css.stored}>
            <Status kind="ok">{t.stored}</Status>
            <Button
              {...control}
              size="small"
              disabled={disabled}
              aria-label={`${label}: ${t.replace}`}
              onClick={() => setReplacing(true)}
            >
              {t.replace}
            </Button>
          </div>
        )}
      </Field>
    );
  }
  const error = rest.error ?? (isGivenAgain && value === '' ? t.giveAgain : undefined);
  return (
    <div>
      <PasswordField
        {...rest}
        value={value}
        onInput={input}
        error={error}
        required={rest.required || isGivenAgain}
        autocomplete="new-password"
        autofocus={isReplacing}
      />
      {isStored && !isGivenAgain && (
        <Button
          kind="ghost"
          size="small"
          onClick={() => {
            setReplacing(false);
            input('');
          }}
        >
          {t.keep}
        </Button>
      )}
    </div>
  );
}
