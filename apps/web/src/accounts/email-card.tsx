import { useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { Button } from '../ui/button.tsx';
import { PasswordField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { Facts } from './facts.tsx';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useSaveProfile } from './queries.ts';

export function EmailCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  return (
    <Card title={t.emailTitle}>
      <Facts facts={[{ label: t.currentEmail, value: profile.email }]} />
      {profile.isLocalUser ? (
        <>
          {profile.pendingEmail !== null && <PendingEmail address={profile.pendingEmail} />}
          <ChangeEmail />
        </>
      ) : (
        <p class={s.note}>{t.byDirectory}</p>
      )}
    </Card>
  );
}

function PendingEmail({ address }: { address: string }) {
  const t = texts.value;
  const save = useSaveProfile();
  const withdraw = async () => {
    await save.mutateAsync({ email: null });
    showToast(t.withdrawn, { kind: 'success' });
  };
  return (
    <Form
      onSubmit={withdraw}
      error={save.error}
      actions={
        <Button type="submit" busy={save.isPending}>
          {t.withdraw}
        </Button>
      }
    >
      <Status kind="info">{t.pendingEmail(address)}</Status>
    </Form>
  );
}

function ChangeEmail() {
  const t = texts.value;
  const [email, setEmail] = useState('');
  const [currentPassword, setPassword] = useState('');
  const save = useSaveProfile();
  const { error } = save;
  const isWrong = error instanceof PortalError && error.code === 'CURRENT_PASSWORD_WRONG';
  const submit = async () => {
    await save.mutateAsync({ email, currentPassword });
    setEmail('');
    setPassword('');
  };
  return (
    <Form
      onSubmit={submit}
      error={error}
      actions={
        <Button type="submit" kind="primary" busy={save.isPending}>
          {t.changeEmail}
        </Button>
      }
    >
      {/* Plain text: the check of the browser refuses addresses with umlauts, which the service takes. */}
      <TextField
        label={t.newEmail}
        name="email"
        value={email}
        onInput={setEmail}
        autocomplete="email"
        required
        hint={t.newEmailHint}
        error={fieldErrors(error)['email']}
      />
      <PasswordField
        label={t.currentPassword}
        name="currentPassword"
        value={currentPassword}
        onInput={setPassword}
        autocomplete="current-password"
        required
        error={isWrong ? t.currentWrong : fieldErrors(error)['currentPassword']}
      />
    </Form>
  );
}
