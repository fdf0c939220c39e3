import type { UseMutationResult } from '@tanstack/preact-query';
import { Send } from 'lucide';
import { useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { DeliveryFailed } from './delivery-failed.tsx';
import type { MailDraft } from './mail-draft.ts';
import { texts } from './texts.ts';

export interface MailTestOf {
  /** Empty for the person's own address. */
  to: string;
  draft: MailDraft;
}

interface MailTestProps {
  test: UseMutationResult<unknown, Error, MailTestOf>;
  draft: MailDraft;
}

/** Sends a mail with the settings of the form, and tells why that does not work. */
export function MailTest({ test, draft }: MailTestProps) {
  const t = texts.value;
  const ownAddress = me.value?.email ?? '';
  const [to, setTo] = useState(ownAddress);
  const { error } = test;
  const errors = fieldErrors(error);
  const isUndelivered = error instanceof PortalError && error.code === 'MAIL_DELIVERY_FAILED';
  // What is wrong with the settings, their form says.
  const isOwn = !(error instanceof PortalError) || error.status !== 400 || errors['to'] !== undefined;
  const sentTo = test.variables?.to || ownAddress;
  return (
    <Card title={t.test}>
      <p class={profile.note}>{t.testHint}</p>
      <Form
        label={t.test}
        onSubmit={() => test.mutateAsync({ to: to.trim(), draft })}
        error={isUndelivered || !isOwn ? null : error}
        actions={
          <Button type="submit" icon={Send} busy={test.isPending}>
            {t.sendTest}
          </Button>
        }
      >
        <TextField
          label={t.to}
          name="to"
          value={to}
          onInput={setTo}
          autocomplete="email"
          hint={ownAddress !== '' && t.toHint}
          error={errors['to']}
        />
      </Form>
      <div role="status">
        {test.isSuccess && <Status kind="ok">{sentTo ? t.testSent(sentTo) : t.signedIn}</Status>}
        {isUndelivered && <DeliveryFailed error={error} />}
      </div>
    </Card>
  );
}
