import { useState } from 'preact/hooks';
import type { InvoiceMailbox } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import mail from '../mail-settings/mail-settings.module.css';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { ImapTestResult } from '../ui/imap-failure.tsx';
import { ImapFields } from '../ui/imap-fields.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { bodyOf, draftOf, type MailboxDraft } from './mailbox-draft.ts';
import { MailboxState } from './mailbox-state.tsx';
import { mailboxKey, readMailbox } from './queries.ts';
import { texts } from './texts.ts';

interface MailboxSettingsProps {
  mailbox: InvoiceMailbox;
  onRemove: () => Promise<unknown>;
}

/** Where the invoices arrive: a form, a test of what stands in it, and how the fetches went. */
export function MailboxSettings({ mailbox, onRemove }: MailboxSettingsProps) {
  const t = texts.value;
  const [isRemoving, setRemoving] = useState(false);
  const form = useStoredForm<InvoiceMailbox, MailboxDraft>({
    row: mailbox,
    draftOf,
    read: readMailbox,
    write: (draft) => portal.put('/invoices/mailbox', { body: bodyOf(draft) }),
    onSaved: (saved) => {
      queryClient.setQueryData(mailboxKey, saved);
      showToast(saved.isActive ? t.savedActive : t.saved, { kind: 'success' });
    },
    labels: {
      host: t.server,
      port: t.port,
      security: t.security,
      username: t.username,
      password: t.password,
      folder: t.folder,
      caCertificatePem: t.authorities,
      processedFolder: t.processedFolder,
      failedFolder: t.failedFolder,
      isActive: t.isActive,
    },
    words: inWords,
  });
  const test = useMutation({
    mutationFn: (draft: MailboxDraft) => portal.post('/invoices/mailbox/test', { body: bodyOf(draft) }),
    onMutate: form.forgetError,
  });
  const refusal = form.error ?? test.error;
  const mustGiveAgain = refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED';
  // That the stored password does not count, its field says in words for people.
  const errors = mustGiveAgain ? {} : fieldErrors(refusal);
  const { draft } = form;
  const isSetUp = mailbox.host !== null;
  const discard = () => {
    form.discard();
    test.reset();
  };

  return (
    <div class={profile.cards}>
      <Card title={t.settings}>
        <Form
          label={t.settings}
          onSubmit={() => {
            test.reset();
            return form.submit();
          }}
          error={refusal}
          actions={
            <StoredFormActions
              form={{ ...form, discard }}
              test={{ label: t.test, isBusy: test.isPending, run: () => test.mutate(draft) }}
            >
              {isSetUp && (
                <Button kind="ghost" onClick={() => setRemoving(true)}>
                  {t.remove}
                </Button>
              )}
            </StoredFormActions>
          }
        >
          <ImapFields
            draft={draft}
            onChange={form.change}
            errors={errors}
            hasPassword={mailbox.hasPassword}
            mustGiveAgain={mustGiveAgain}
          />
          <div class={mail.columns}>
            <TextField
              label={t.processedFolder}
              name="processedFolder"
              autocomplete="off"
              value={draft.processedFolder}
              onInput={form.set('processedFolder')}
              hint={t.processedFolderHint}
              error={errors['processedFolder']}
            />
            <TextField
              label={t.failedFolder}
              name="failedFolder"
              autocomplete="off"
              value={draft.failedFolder}
              onInput={form.set('failedFolder')}
              error={errors['failedFolder']}
            />
          </div>
          <SwitchField
            label={t.isActive}
            name="isActive"
            checked={draft.isActive}
            onChange={form.set('isActive')}
            hint={t.isActiveHint}
            error={errors['isActive']}
          />
        </Form>
      </Card>
      <div>
        <Card title={t.test}>
          <div role="status">
            {test.data ? <ImapTestResult result={test.data} /> : <p class={profile.note}>{t.testHint}</p>}
          </div>
        </Card>
        {isSetUp && (
          <Card title={t.state}>
            <MailboxState mailbox={mailbox} />
          </Card>
        )}
      </div>
      {form.question}
      {isRemoving && (
        <ConfirmDialog
          title={t.removeTitle}
          confirmLabel={t.remove}
          danger
          onConfirm={async () => {
            await onRemove();
          }}
          onClose={() => setRemoving(false)}
        >
          <p>{t.removeText(mailbox.username ?? '', mailbox.host ?? '')}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function inWords(field: keyof MailboxDraft, draft: MailboxDraft): string {
  const t = texts.value;
  if (field === 'security') return t.securities[draft.security];
  if (field === 'isActive') return draft.isActive ? t.on : t.off;
  return draft[field];
}
