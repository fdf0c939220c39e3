import { useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { Facts } from './facts.tsx';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useSaveProfile } from './queries.ts';
import { words } from './user-words.ts';

export function NameCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  const { username, firstName, lastName, tenantName, role, isLocalUser } = profile;
  return (
    <Card title={t.nameTitle}>
      {isLocalUser && <DisplayName saved={profile.displayName ?? ''} />}
      <Facts
        facts={[
          ...(isLocalUser ? [] : [{ label: t.displayName, value: profile.displayName }]),
          { label: t.username, value: username },
          { label: t.firstName, value: firstName },
          { label: t.lastName, value: lastName },
          { label: t.organization, value: tenantName },
          { label: t.role, value: words.value.roles[role] },
        ]}
      />
      <p class={s.note}>{isLocalUser ? t.byAdministration : t.byDirectory}</p>
    </Card>
  );
}

function DisplayName({ saved }: { saved: string }) {
  const t = texts.value;
  const [displayName, setDisplayName] = useState(saved);
  const save = useSaveProfile();
  const submit = async () => {
    const profile = await save.mutateAsync({ displayName });
    // The service trims names.
    setDisplayName((now) => (now === displayName ? (profile.displayName ?? '') : now));
    showToast(t.saved, { kind: 'success' });
  };
  return (
    <Form
      onSubmit={submit}
      error={save.error}
      actions={
        <Button type="submit" kind="primary" busy={save.isPending}>
          {t.save}
        </Button>
      }
    >
      <TextField
        label={t.displayName}
        name="displayName"
        value={displayName}
        onInput={setDisplayName}
        autocomplete="name"
        hint={t.displayNameHint}
        error={fieldErrors(save.error)['displayName']}
      />
    </Form>
  );
}
