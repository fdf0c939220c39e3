import { PortalError } from '@portal/client/portal-error';
import { PasswordField } from '../ui/field.tsx';
import { fieldErrors } from '../ui/form.tsx';
import { Status, type StatusKind } from '../ui/status.tsx';
import { strengthOf } from './password-strength.ts';
import { texts } from './password-texts.ts';

interface NewPasswordFieldProps {
  value: string;
  onInput: (value: string) => void;
  /** The refusal of the last attempt. */
  error: unknown;
  /** The password that was sent along, if it must differ. */
  currentPassword?: string | undefined;
}

/** One field suffices, since the person can show what stands in it. */
export function NewPasswordField({ value, onInput, error, currentPassword }: NewPasswordFieldProps) {
  const t = texts.value;
  const strength = strengthOf(value);
  return (
    <div>
      <PasswordField
        label={t.newPassword}
        name="newPassword"
        value={value}
        onInput={onInput}
        autocomplete="new-password"
        required
        hint={t.rules}
        error={refusalOf(error, value, currentPassword) ?? fieldErrors(error)['newPassword']}
      />
      <div role="status">{value !== '' && <Status kind={kinds[strength]}>{t.strength[strength]}</Status>}</div>
    </div>
  );
}

const kinds = {
  tooShort: 'warning',
  fair: 'info',
  good: 'ok',
  strong: 'ok',
  tooLong: 'warning',
} satisfies Record<string, StatusKind>;

/** The service refuses with one code; which rule it was follows from the password. */
function refusalOf(error: unknown, password: string, currentPassword: string | undefined): string | undefined {
  if (!(error instanceof PortalError) || error.code !== 'PASSWORD_POLICY') return undefined;
  const t = texts.value;
  if (password === currentPassword) return t.unchanged;
  return ['tooShort', 'tooLong'].includes(strengthOf(password)) ? t.refused : t.guessable;
}
