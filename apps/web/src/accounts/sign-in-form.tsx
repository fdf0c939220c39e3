import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { PasswordField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import s from './sign-in-form.module.css';
import { texts } from './sign-in-texts.ts';

interface SignInFormProps {
  /** The only account that may sign in here. Without it, the person names one. */
  username?: string | undefined;
  onSignedIn: (profile: Profile) => void;
  /** Stands beside the button. */
  children?: ComponentChildren;
}

export function SignInForm({ username: fixedUsername, onSignedIn, children }: SignInFormProps) {
  const t = texts.value;
  const fields = useRef<HTMLDivElement>(null);
  const [username, setUsername] = useState(fixedUsername ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const invalid = fieldErrors(error);

  const focus = (name: string) => fields.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.select();
  useLayoutEffect(() => focus(fixedUsername === undefined ? 'username' : 'password'), []);
  useEffect(() => {
    if (error instanceof PortalError && error.code === 'INVALID_CREDENTIALS') focus('password');
  }, [error]);

  const signIn = async () => {
    setBusy(true);
    setError(null);
    try {
      const { user } = await portal.post('/auth/login', { body: { username, password } });
      onSignedIn(user);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Form
      onSubmit={signIn}
      error={error}
      actions={
        <>
          <Button type="submit" kind="primary" busy={isBusy}>
            {t.signIn}
          </Button>
          {children}
        </>
      }
    >
      <div ref={fields} class={s.fields}>
        {fixedUsername === undefined ? (
          <TextField
            label={t.username}
            name="username"
            value={username}
            onInput={setUsername}
            autocomplete="username"
            required
            error={invalid['username']}
          />
        ) : (
          <FixedUsername username={fixedUsername} />
        )}
        <PasswordField
          label={t.password}
          name="password"
          value={password}
          onInput={setPassword}
          autocomplete="current-password"
          required
          autofocus={fixedUsername !== undefined}
          error={invalid['password']}
        />
      </div>
    </Form>
  );
}

function FixedUsername({ username }: { username: string }) {
  return (
    <div>
      <p class={s.label}>{texts.value.username}</p>
      <p>
        <bdi>{username}</bdi>
      </p>
      {/* Tells password managers which account it is. */}
      <input name="username" autocomplete="username" value={username} readOnly hidden />
    </div>
  );
}
