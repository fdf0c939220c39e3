import { PortalError } from '@portal/client/portal-error';
import { CheckField, SelectField, TextField } from '../ui/field.tsx';
import { fieldErrors } from '../ui/form.tsx';
import type { UserDraft } from './user-draft.ts';
import { texts } from './user-texts.ts';
import { type Role, words } from './user-words.ts';

interface UserFieldsProps {
  draft: UserDraft;
  onChange: (draft: UserDraft) => void;
  /** The refusal of the last attempt. */
  error: unknown;
  roles: readonly Role[];
  /** Why the role cannot be changed. */
  roleNote?: string | undefined;
  /** Why the address cannot be changed. */
  emailNote?: string | undefined;
  emailHint?: string | undefined;
  /** The directory manages name and address, so they are left out. */
  isManaged?: boolean | undefined;
  isNew?: boolean | undefined;
}

/** The fields of an account that administrators may change. */
export function UserFields(props: UserFieldsProps) {
  const { draft, onChange, error, roles, roleNote, isManaged, isNew } = props;
  const t = texts.value;
  const w = words.value;
  const set = (changes: Partial<UserDraft>) => onChange({ ...draft, ...changes });
  return (
    <>
      {!isManaged && <PersonFields {...props} />}
      <SelectField
        label={w.role}
        name="role"
        value={draft.role}
        onChange={(role) => set({ role: roles.find((one) => one === role) ?? draft.role })}
        options={roles.map((value) => ({ value, label: w.roles[value] }))}
        disabled={roleNote !== undefined && roles.length < 2}
        hint={roleNote}
        error={fieldErrors(error)['role']}
      />
      {!isManaged && !isNew && (
        <CheckField
          label={w.mustChangePassword}
          name="mustChangePassword"
          checked={draft.mustChangePassword}
          onChange={(mustChangePassword) => set({ mustChangePassword })}
          hint={t.mustChangeHint}
        />
      )}
    </>
  );
}

function PersonFields({ draft, onChange, error, emailNote, emailHint, isNew }: UserFieldsProps) {
  const t = texts.value;
  const w = words.value;
  const errors = { ...fieldErrors(error), ...takenFields(error) };
  const field = (name: 'username' | 'email' | 'displayName' | 'firstName' | 'lastName') => ({
    label: w[name],
    name,
    value: draft[name],
    onInput: (value: string) => onChange({ ...draft, [name]: value }),
    error: errors[name],
    // The person at the keyboard is not the person of the account.
    autocomplete: 'off',
  });
  return (
    <>
      <TextField {...field('username')} required maxLength={128} hint={t.usernameHint} autofocus={isNew} />
      {/* Plain text: the check of the browser refuses addresses with umlauts, which the service takes. */}
      <TextField {...field('email')} maxLength={254} disabled={emailNote !== undefined} hint={emailNote ?? emailHint} />
      <TextField {...field('displayName')} maxLength={200} hint={t.displayNameHint} />
      <TextField {...field('firstName')} maxLength={200} />
      <TextField {...field('lastName')} maxLength={200} />
    </>
  );
}

/** Refusals that name no field, because the account is fine but for another one. */
function takenFields(error: unknown): Record<string, string> {
  const t = texts.value;
  const code = error instanceof PortalError ? error.code : '';
  if (code === 'USERNAME_TAKEN') return { username: t.usernameTaken };
  return code === 'EMAIL_TAKEN' ? { email: t.emailTaken } : {};
}
