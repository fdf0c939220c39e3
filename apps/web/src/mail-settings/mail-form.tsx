import { useState } from 'preact/hooks';
import type { SmtpConfig } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { RadioGroup, SelectField, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { SecretField } from '../ui/secret-field.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { bodyOf, draftOf, type MailDraft, type Security, withSecurity } from './mail-draft.ts';
import s from './mail-settings.module.css';
import { MailTest, type MailTestOf } from './mail-test.tsx';
import { QuotaCard } from './quota-card.tsx';
import { texts } from './texts.ts';

export const mailKey = ['mail-settings', 'smtp'] as const;

/** The mail settings: a form, a test of what stands in it, and what was sent today. */
export function MailSettings({ config }: { config: SmtpConfig }) {
  const t = texts.value;
  const [isConfirming, setConfirming] = useState(false);
  const form = useStoredForm<SmtpConfig, MailDraft>({
    row: config,
    draftOf,
    read,
    write,
    onSaved: (saved) => {
      queryClient.setQueryData(mailKey, saved);
      void queryClient.invalidateQueries({ queryKey: ['mail-settings', 'welcome-status'] });
      showToast(t.saved, { kind: 'success' });
    },
    labels: {
      sender: t.sender,
      host: t.host,
      port: t.port,
      security: t.security,
      username: t.username,
      password: t.password,
      verifyTls: t.verifyTls,
      fromAddress: t.fromAddress,
      fromName: t.fromName,
      replyTo: t.replyTo,
      bugReportRecipient: t.bugReportRecipient,
    },
    words: inWords,
  });
  const test = useMutation({
    mutationFn: ({ to, draft }: MailTestOf) =>
      portal.post('/smtp-config/test', { body: { ...bodyOf(draft), ...(to !== '' && { to }) } }),
    onMutate: form.forgetError,
  });
  const refusal = form.error ?? (isAboutSettings(test.error) ? test.error : null);
  const replacesServer = config.host !== null && form.draft.sender === 'service';

  return (
    <div class={profile.cards}>
      <Card title={t.server}>
        <Form
          label={t.server}
          onSubmit={() => {
            test.reset();
            if (replacesServer) setConfirming(true);
            else return form.submit();
            return undefined;
          }}
          error={refusal}
          actions={<StoredFormActions form={form} />}
        >
          <Fields form={form} hasPassword={config.hasPassword} refusal={refusal} />
        </Form>
      </Card>
      <div>
        <MailTest test={test} draft={form.draft} />
        <QuotaCard config={config} />
      </div>
      {form.question}
      {isConfirming && (
        <ConfirmDialog
          title={t.resetTitle}
          confirmLabel={t.reset}
          danger
          onConfirm={form.submit}
          onClose={() => setConfirming(false)}
        >
          {t.resetText(config.host ?? '')}
        </ConfirmDialog>
      )}
    </div>
  );
}

const read = () => portal.get('/smtp-config');

/** If nothing is left to store, nothing stays stored. */
async function write(draft: MailDraft): Promise<SmtpConfig> {
  if (draft.sender === 'own' || draft.bugReportRecipient.trim() !== '')
    return portal.put('/smtp-config', { body: bodyOf(draft) });
  await portal.delete('/smtp-config');
  return read();
}

function inWords(field: keyof MailDraft, draft: MailDraft): string {
  const t = texts.value;
  if (field === 'sender') return t.senders[draft.sender];
  if (field === 'security') return t.securities[draft.security];
  if (field === 'verifyTls') return draft.verifyTls ? t.yes : t.no;
  return draft[field];
}

/** A refused test of settings marks the fields of the form; only the address of the mail stands elsewhere. */
const isAboutSettings = (error: unknown): boolean =>
  error instanceof PortalError && error.status === 400 && error.details.some(({ path }) => path !== 'to');

interface FieldsProps {
  form: ReturnType<typeof useStoredForm<SmtpConfig, MailDraft>>;
  hasPassword: boolean;
  refusal: unknown;
}

function Fields({ form: { draft, set, change }, hasPassword, refusal }: FieldsProps) {
  const t = texts.value;
  const errors = fieldErrors(refusal);
  const options = (['service', 'own'] as const).map((value) => ({
    value,
    label: t.senders[value],
    hint: t.senderHints[value],
  }));
  return (
    <>
      <RadioGroup legend={t.sender} name="sender" value={draft.sender} onChange={set('sender')} options={options} />
      {draft.sender === 'own' && (
        <>
          <TextField
            label={t.host}
            name="host"
            required
            autocomplete="off"
            value={draft.host}
            onInput={set('host')}
            error={errors['host']}
          />
          <div class={s.columns}>
            <SelectField
              label={t.security}
              name="security"
              value={draft.security}
              onChange={(value) => change(withSecurity(draft, value as Security))}
              options={securities.map((value) => ({ value, label: t.securities[value] }))}
              hint={draft.security === 'none' && t.noSecurity}
              error={errors['security']}
            />
            <TextField
              label={t.port}
              name="port"
              type="number"
              min={1}
              max={65_535}
              required
              value={draft.port}
              onInput={set('port')}
              error={errors['port']}
            />
          </div>
          {draft.security !== 'none' && (
            <SwitchField
              label={t.verifyTls}
              name="verifyTls"
              checked={draft.verifyTls}
              onChange={set('verifyTls')}
              hint={!draft.verifyTls && t.notVerified}
            />
          )}
          <div class={s.columns}>
            <TextField
              label={t.username}
              name="username"
              autocomplete="off"
              value={draft.username}
              onInput={set('username')}
              hint={t.usernameHint}
              error={errors['username']}
            />
            <SecretField
              label={t.password}
              name="password"
              value={draft.password}
              onInput={set('password')}
              isStored={hasPassword}
              mustGiveAgain={refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED'}
              error={errors['password']}
            />
          </div>
          <div class={s.columns}>
            <TextField
              label={t.fromAddress}
              name="fromAddress"
              required
              value={draft.fromAddress}
              onInput={set('fromAddress')}
              error={errors['fromAddress']}
            />
            <TextField
              label={t.fromName}
              name="fromName"
              maxLength={200}
              value={draft.fromName}
              onInput={set('fromName')}
              error={errors['fromName']}
            />
          </div>
          <TextField
            label={t.replyTo}
            name="replyTo"
            value={draft.replyTo}
            onInput={set('replyTo')}
            hint={t.replyToHint}
            error={errors['replyTo']}
          />
          <p class={profile.note}>{t.superAdmins}</p>
        </>
      )}
      <TextField
        label={t.bugReportRecipient}
        name="bugReportRecipient"
        value={draft.bugReportRecipient}
        onInput={set('bugReportRecipient')}
        hint={t.bugReportHint}
        error={errors['bugReportRecipient']}
      />
    </>
  );
}

const securities = ['starttls', 'tls', 'none'] as const;
