import type { LdapConfig } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import settings from '../mail-settings/mail-settings.module.css';
import { FileField, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { SecretField } from '../ui/secret-field.tsx';
import type { useStoredForm } from '../ui/use-stored-form.tsx';
import { IncludeList } from './include-list.tsx';
import { isEncrypted, namesIn, type SettingsDraft } from './settings-draft.ts';
import { texts } from './texts.ts';

interface SettingsFieldsProps {
  form: ReturnType<typeof useStoredForm<LdapConfig, SettingsDraft>>;
  hasPassword: boolean;
  refusal: unknown;
}

export function SettingsFields({ form: { draft, set }, hasPassword, refusal }: SettingsFieldsProps) {
  const t = texts.value;
  const errors = fieldErrors(refusal);
  const isTls = isEncrypted(draft.serverUrl);
  return (
    <>
      <Card title={t.connection}>
        <div class={settings.columns}>
          <TextField
            label={t.serverUrl}
            name="serverUrl"
            required
            autocomplete="off"
            value={draft.serverUrl}
            onInput={set('serverUrl')}
            hint={t.serverUrlHint}
            error={errors['serverUrl']}
          />
          <TextField
            label={t.baseDn}
            name="baseDn"
            required
            autocomplete="off"
            value={draft.baseDn}
            onInput={set('baseDn')}
            hint={t.baseDnHint}
            error={errors['baseDn']}
          />
          <TextField
            label={t.bindDn}
            name="bindDn"
            autocomplete="off"
            value={draft.bindDn}
            onInput={set('bindDn')}
            hint={t.bindDnHint}
            error={errors['bindDn']}
          />
          <SecretField
            label={t.bindPassword}
            name="bindPassword"
            value={draft.bindPassword}
            onInput={set('bindPassword')}
            isStored={hasPassword}
            mustGiveAgain={refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED'}
            error={errors['bindPassword']}
          />
        </div>
        {!isTls && (
          <SwitchField
            label={t.startTls}
            name="startTls"
            checked={draft.startTls}
            onChange={set('startTls')}
            hint={!draft.startTls && draft.serverUrl !== '' && t.unencrypted}
            error={errors['startTls']}
          />
        )}
        {(isTls || draft.startTls) && (
          <>
            <SwitchField
              label={t.skipTlsVerify}
              name="skipTlsVerify"
              checked={draft.skipTlsVerify}
              onChange={set('skipTlsVerify')}
              hint={draft.skipTlsVerify && t.skipTlsVerifyHint}
            />
            <TextField
              label={t.caCertificatePem}
              name="caCertificatePem"
              multiline
              rows={3}
              value={draft.caCertificatePem}
              onInput={set('caCertificatePem')}
              hint={t.caHint}
              error={errors['caCertificatePem']}
            />
            <FileField
              label={t.caFile}
              accept=".pem,.crt,.cer"
              onFiles={([file]) => void file?.text().then(set('caCertificatePem'))}
            />
          </>
        )}
      </Card>
      <Card title={t.scope}>
        <TextField
          label={t.userFilter}
          name="userFilter"
          autocomplete="off"
          placeholder="(objectClass=person)"
          value={draft.userFilter}
          onInput={set('userFilter')}
          hint={t.userFilterHint}
          error={errors['userFilter']}
        />
        <IncludeList
          dns={draft.includeDns}
          onChange={set('includeDns')}
          errorAt={(index) => errors[`includeDns.${index}`]}
          error={errors['includeDns']}
        />
        <TextField
          label={t.userExcludeList}
          name="userExcludeList"
          multiline
          rows={3}
          value={draft.userExcludeList}
          onInput={set('userExcludeList')}
          hint={t.userExcludeHint}
          error={excludeError(errors, draft)}
        />
      </Card>
      <Card title={t.schedule}>
        <TextField
          label={t.syncIntervalMin}
          name="syncIntervalMin"
          type="number"
          min={5}
          max={10_080}
          required
          value={draft.syncIntervalMin}
          onInput={set('syncIntervalMin')}
          hint={t.syncIntervalHint}
          error={errors['syncIntervalMin']}
        />
        <SwitchField
          label={t.isActive}
          name="isActive"
          checked={draft.isActive}
          onChange={set('isActive')}
          hint={t.isActiveHint}
        />
      </Card>
    </>
  );
}

/** The first refusal of the list, with the name it is about. */
function excludeError(errors: Record<string, string>, draft: SettingsDraft): string | undefined {
  const [path, reason] = Object.entries(errors).find(([path]) => path.startsWith('userExcludeList')) ?? [];
  if (path === undefined || reason === undefined) return undefined;
  const name = namesIn(draft.userExcludeList)[Number(path.split('.')[1])];
  return name === undefined ? reason : texts.value.entryWrong(name.slice(0, 40), reason);
}
