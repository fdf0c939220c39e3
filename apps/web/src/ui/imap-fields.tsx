import mail from '../mail-settings/mail-settings.module.css';
import { SelectField, TextField } from './field.tsx';
import { type ImapDraft, type ImapSecurity, withSecurity } from './imap-draft.ts';
import { texts } from './imap-texts.ts';
import { SecretField } from './secret-field.tsx';

interface ImapFieldsProps {
  draft: ImapDraft;
  /** Gets the fields that changed. */
  onChange: (changed: Partial<ImapDraft>) => void;
  errors: Readonly<Record<string, string>>;
  hasPassword: boolean;
  mustGiveAgain: boolean;
  disabled?: boolean | undefined;
}

/** The server, account and folder of a mailbox that the portal reads. */
export function ImapFields({ draft, onChange, errors, hasPassword, mustGiveAgain, disabled }: ImapFieldsProps) {
  const t = texts.value;
  const text = (name: 'host' | 'port' | 'username' | 'folder' | 'caCertificatePem') => ({
    label: t[name],
    name,
    value: draft[name],
    onInput: (value: string) => onChange({ [name]: value }),
    error: errors[name],
    disabled,
    autocomplete: 'off',
  });
  return (
    <>
      <TextField {...text('host')} required placeholder="imap.example.org" />
      <div class={mail.columns}>
        <SelectField
          label={t.security}
          name="security"
          value={draft.security}
          onChange={(value) => onChange(withSecurity(draft, value as ImapSecurity))}
          options={securities.map((value) => ({ value, label: t.securities[value] }))}
          hint={draft.security === 'none' && t.noSecurity}
          error={errors['security']}
          disabled={disabled}
        />
        <TextField {...text('port')} type="number" min={1} max={65_535} required />
      </div>
      <div class={mail.columns}>
        <TextField {...text('username')} required hint={t.usernameHint} />
        <SecretField
          label={t.password}
          name="password"
          value={draft.password}
          onInput={(password) => onChange({ password })}
          isStored={hasPassword}
          mustGiveAgain={mustGiveAgain}
          hint={!hasPassword && t.passwordHint}
          // The field has plainer words for this than the service.
          error={mustGiveAgain ? undefined : errors['password']}
          disabled={disabled}
        />
      </div>
      <TextField {...text('folder')} hint={t.folderHint} />
      <details open={draft.caCertificatePem !== '' || errors['caCertificatePem'] !== undefined}>
        <summary>{t.authorities}</summary>
        <TextField {...text('caCertificatePem')} multiline hint={t.caHint} />
      </details>
    </>
  );
}

const securities = ['tls', 'starttls', 'none'] as const;
