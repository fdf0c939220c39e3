import { useState } from 'preact/hooks';
import type { TenderAlertMailbox } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { useMutation } from '../mutation.ts';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { SwitchField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { type ImapDraft, imapBodyOf, imapDraftOf } from '../ui/imap-draft.ts';
import { ImapFailure, ImapTestResult } from '../ui/imap-failure.tsx';
import { ImapFields } from '../ui/imap-fields.tsx';
import { texts as imapTexts } from '../ui/imap-texts.ts';
import { Card } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { texts } from './sources-texts.ts';

const queryKey = ['tenders', 'mailbox-alert'] as const;
/** A mailbox is read every ten minutes, and at once after it was saved. */
const intervalMs = 15_000;

type Draft = ImapDraft & { isActive: boolean };

const read = () => portal.get('/tenders/mailbox-alert');
const draftOf = (mailbox: TenderAlertMailbox): Draft => ({
  ...imapDraftOf(mailbox),
  isActive: mailbox.isActive ?? true,
});
const bodyOf = (draft: Draft) => ({ ...imapBodyOf(draft), isActive: draft.isActive });

/** The mailbox in which the person gets alert mails of tender portals. */
export function MailboxCard() {
  const query = usePolled({
    queryKey,
    queryFn: ({ signal }) => portal.get('/tenders/mailbox-alert', { signal }),
    intervalMs,
  });
  return (
    <Card title={texts.value.mailbox}>
      <QueryView query={query}>{(mailbox) => <Mailbox mailbox={mailbox} />}</QueryView>
    </Card>
  );
}

function Mailbox({ mailbox }: { mailbox: TenderAlertMailbox }) {
  const t = texts.value;
  const i = imapTexts.value;
  const [isDeleting, setDeleting] = useState(false);
  const isStored = mailbox.host !== null;
  const form = useStoredForm<TenderAlertMailbox, Draft>({
    row: mailbox,
    draftOf,
    read,
    write: (draft) => portal.put('/tenders/mailbox-alert', { body: bodyOf(draft) }),
    onSaved: (saved) => {
      queryClient.setQueryData(queryKey, saved);
      void queryClient.invalidateQueries({ queryKey: ['tenders', 'sources'] });
      showToast(t.mailboxSaved, { kind: 'success' });
    },
    labels: {
      host: i.host,
      port: i.port,
      security: i.security,
      username: i.username,
      password: i.password,
      folder: i.folder,
      caCertificatePem: i.caCertificatePem,
      isActive: t.mailboxActive,
    },
    words: (field, draft) => {
      if (field === 'isActive') return draft.isActive ? t.yes : t.no;
      if (field === 'security') return i.securities[draft.security];
      return draft[field];
    },
  });
  const { draft } = form;
  const test = useMutation({
    mutationFn: async (tested: Draft) => ({
      of: JSON.stringify(tested),
      result: await portal.post('/tenders/mailbox-alert/test', { body: bodyOf(tested) }),
    }),
    onMutate: form.forgetError,
  });
  // What was tested must be what the form says.
  const tested = test.data?.of === JSON.stringify(draft) ? test.data.result : null;
  const refusal = form.error ?? test.error;

  return (
    <>
      <p class={profile.note}>{t.mailboxHint}</p>
      {isStored && <MailboxState mailbox={mailbox} />}
      <Form
        label={t.mailbox}
        onSubmit={() => {
          test.reset();
          return form.submit();
        }}
        error={refusal}
        actions={
          <StoredFormActions
            form={form}
            test={{ label: t.test, isBusy: test.isPending, run: () => test.mutate(draft) }}
          >
            {isStored && !form.isDirty && (
              <Button kind="ghost" onClick={() => setDeleting(true)}>
                {t.removeMailbox}
              </Button>
            )}
          </StoredFormActions>
        }
      >
        <ImapFields
          draft={draft}
          onChange={form.change}
          errors={fieldErrors(refusal)}
          hasPassword={mailbox.hasPassword}
          mustGiveAgain={refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED'}
        />
        <SwitchField
          label={t.mailboxActive}
          name="isActive"
          checked={draft.isActive}
          onChange={form.set('isActive')}
          hint={t.mailboxActiveHint}
        />
      </Form>
      <div role="status">{tested && <ImapTestResult result={tested} />}</div>
      {form.question}
      {isDeleting && (
        <ConfirmDialog
          title={t.removeTitle}
          confirmLabel={t.remove}
          danger
          onConfirm={async () => {
            await portal.delete('/tenders/mailbox-alert');
            test.reset();
            await queryClient.invalidateQueries({ queryKey: ['tenders'], type: 'active' });
            showToast(t.mailboxRemoved);
          }}
          onClose={() => setDeleting(false)}
        >
          {t.removeText(mailbox.username ?? '', mailbox.host ?? '')}
        </ConfirmDialog>
      )}
    </>
  );
}

/** When the mailbox was last read, and why it could not be. */
function MailboxState({ mailbox }: { mailbox: TenderAlertMailbox }) {
  const t = texts.value;
  const { isActive, isPaused, lastError, lastFetchedAt } = mailbox;
  return (
    <div role="status">
      {!isActive && <Status kind="unknown">{t.mailboxOff}</Status>}
      {isActive && isPaused && <Status kind="error">{t.mailboxPaused}</Status>}
      {isActive && lastError && <ImapFailure kind={lastError} />}
      {isActive && !lastError && !isPaused && (
        <Status kind={lastFetchedAt ? 'ok' : 'info'}>{lastFetchedAt ? t.mailboxRead : t.mailboxNew}</Status>
      )}
      {lastFetchedAt && (
        <p>
          {t.lastFetched} <Time value={lastFetchedAt} />
        </p>
      )}
    </div>
  );
}
