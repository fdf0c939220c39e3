import { Inbox } from 'lucide';
import type { InvoiceMailbox, Run } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { RunProgress } from '../operations/run-progress.tsx';
import { LinkButton } from '../ui/button.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { Card } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { MailboxState } from './mailbox-state.tsx';
import { texts } from './texts.ts';
import type { Fetch } from './use-fetch.ts';

interface FetchCardProps {
  fetch: Fetch;
  /** Undefined until it is read, and for accounts that may not see it. */
  mailbox: InvoiceMailbox | undefined;
  manages: boolean;
  mailboxPath: string;
}

/** How the invoices get here: the fetch of this moment, and to those who manage the mailbox how the last one went. */
export function FetchCard({ fetch, mailbox, manages, mailboxPath }: FetchCardProps) {
  const t = texts.value;
  const { runId, ended, error, isNotSetUp } = fetch;
  if (mailbox?.host === null || isNotSetUp) {
    return (
      <Card>
        <div role="status">
          <EmptyState
            icon={Inbox}
            title={t.notSetUp}
            action={
              manages && (
                <LinkButton kind="primary" href={mailboxPath}>
                  {t.setUp}
                </LinkButton>
              )
            }
          >
            {manages ? t.notSetUpManage : t.notSetUpUse}
          </EmptyState>
        </div>
      </Card>
    );
  }
  const isFollowing = runId !== null || Boolean(error);
  if (!isFollowing) return mailbox ? <MailboxState mailbox={mailbox} /> : null;
  return (
    <Card title={t.fetching}>
      <div>
        <div role="alert">{error ? <Refused error={error} /> : null}</div>
        {runId !== null && !error && <RunProgress key={runId} runId={runId} onEnd={fetch.onEnd} />}
        <div role="status">{ended && !error && <Ended run={ended} manages={manages} />}</div>
      </div>
      {mailbox && <MailboxState mailbox={mailbox} />}
    </Card>
  );
}

function Refused({ error }: { error: unknown }) {
  const { text } = useErrorText(error);
  return <Status kind="warning">{text}</Status>;
}

/** A run reads at most so many mails; the others follow in another one. */
const mostMails = 20;

function Ended({ run: { state, progress, error }, manages }: { run: Run; manages: boolean }) {
  const t = texts.value;
  if (state === 'succeeded') {
    const mails = progress?.total ?? 0;
    if (mails === 0) return <p>{t.fetchedNone}</p>;
    return <p>{mails < mostMails ? t.fetched(mails) : t.fetchedMost(mails)}</p>;
  }
  if (error?.startsWith('The invoice storage')) return <p>{t.storageFull}</p>;
  return manages ? null : <p class={profile.note}>{t.askManager}</p>;
}
