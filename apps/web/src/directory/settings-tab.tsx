import { useState } from 'preact/hooks';
import type { LdapConfig } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import formStyle from '../ui/form.module.css';
import { Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { configKey, readConfig } from './queries.ts';
import { bodyOf, draftOf, type SettingsDraft } from './settings-draft.ts';
import { SettingsFields } from './settings-fields.tsx';
import { TestResult } from './test-result.tsx';
import { texts } from './texts.ts';

/** Where the directory is, who of it gets an account, and when it is read. */
export function SettingsTab({ config }: { config: LdapConfig }) {
  const t = texts.value;
  const [question, setQuestion] = useState<'off' | 'remove' | null>(null);
  const form = useStoredForm<LdapConfig, SettingsDraft>({
    row: config,
    draftOf,
    read: () => readConfig(),
    write: (draft) => portal.put('/ldap/config', { body: bodyOf(draft) }),
    onSaved: (saved) => {
      queryClient.setQueryData(configKey, saved);
      // What is found depends on the settings.
      void queryClient.invalidateQueries({ queryKey: ['directory', 'groups'] });
      void queryClient.resetQueries({ queryKey: ['directory', 'preview'] });
      showToast(t.saved, { kind: 'success' });
    },
    labels: {
      serverUrl: t.serverUrl,
      startTls: t.startTls,
      skipTlsVerify: t.skipTlsVerify,
      caCertificatePem: t.caCertificatePem,
      bindDn: t.bindDn,
      bindPassword: t.bindPassword,
      baseDn: t.baseDn,
      userFilter: t.userFilter,
      includeDns: t.includeDns,
      userExcludeList: t.userExcludeList,
      syncIntervalMin: t.syncIntervalMin,
      isActive: t.isActive,
    },
    words: inWords,
  });
  const test = useMutation({
    mutationFn: (draft: SettingsDraft) => portal.post('/ldap/test', { body: bodyOf(draft) }),
    onMutate: form.forgetError,
  });
  const refusal = form.error ?? test.error;
  const isSwitchedOff = config.isActive === true && !form.draft.isActive;

  const submit = () => {
    test.reset();
    if (!isSwitchedOff) return form.submit();
    setQuestion('off');
    return undefined;
  };
  const remove = async () => {
    await portal.delete('/ldap/config');
    form.discard();
    test.reset();
    queryClient.setQueryData(configKey, await readConfig());
    void queryClient.resetQueries({ queryKey: ['directory', 'preview'] });
    showToast(t.removed, { kind: 'success' });
  };

  return (
    <div class={formStyle.form}>
      <Form
        label={t.tab.settings}
        onSubmit={submit}
        error={refusal}
        actions={
          <StoredFormActions
            form={form}
            test={{ label: t.test, isBusy: test.isPending, run: () => test.mutate(form.draft) }}
          >
            {config.serverUrl !== null && (
              <Button kind="ghost" onClick={() => setQuestion('remove')}>
                {t.remove}
              </Button>
            )}
          </StoredFormActions>
        }
      >
        <SettingsFields form={form} hasPassword={config.bindPassword !== null} refusal={refusal} />
      </Form>
      <div role="status">{test.data && <TestResult result={test.data} />}</div>
      {form.question}
      {question === 'off' && (
        <ConfirmDialog
          title={t.offTitle}
          confirmLabel={t.off}
          danger
          onConfirm={form.submit}
          onClose={() => setQuestion(null)}
        >
          <p>{t.offText}</p>
          {me.value?.isLocalUser === false && <p>{t.offSelf}</p>}
        </ConfirmDialog>
      )}
      {question === 'remove' && (
        <ConfirmDialog
          title={t.removeTitle}
          confirmLabel={t.remove}
          danger
          onConfirm={remove}
          onClose={() => setQuestion(null)}
        >
          <p>{t.removeText(config.serverUrl ?? '')}</p>
          {me.value?.isLocalUser === false && <p>{t.offSelf}</p>}
        </ConfirmDialog>
      )}
    </div>
  );
}

function inWords(field: keyof SettingsDraft, draft: SettingsDraft): string {
  const t = texts.value;
  const value = draft[field];
  if (typeof value === 'boolean') return value ? t.yes : t.no;
  return typeof value === 'string' ? value : value.join('\n');
}
