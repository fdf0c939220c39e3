import { useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { me, setMe } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { PasswordField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { texts } from './password-texts.ts';
import { refreshSessions } from './queries.ts';

/** Changes the password of a local account. */
export function ChangePasswordForm({ onChanged }: { onChanged: () => void }) {
  const t = texts.value;
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      portal.post('/auth/change-password', { body }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
      if (me.value) setMe({ ...me.value, mustChangePassword: false });
      // The change ends all other sessions.
      void refreshSessions();
      onChanged();
    },
  });
  const { error } = change;
  const isWrong = error instanceof PortalError && error.code === 'CURRENT_PASSWORD_WRONG';

  return (
    <Form
      onSubmit={() => change.mutateAsync({ currentPassword, newPassword })}
      error={error}
      actions={
        <Button type="submit" kind="primary" busy={change.isPending}>
          {t.save}
        </Button>
      }
    >
      {/* Tells password managers which account it is. */}
      <input name="username" autocomplete="username" value={me.value?.username} readOnly hidden />
      <PasswordField
        label={t.currentPassword}
        name="currentPassword"
        value={currentPassword}
        onInput={setCurrent}
        autocomplete="current-password"
        required
        error={isWrong ? t.currentWrong : fieldErrors(error)['currentPassword']}
      />
      <NewPasswordField value={newPassword} onInput={setNew} error={error} currentPassword={currentPassword} />
    </Form>
  );
}
