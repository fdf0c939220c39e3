import type { InvoiceMailbox } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { formatBytes } from '../language.ts';
import { ImapFailure } from '../ui/imap-failure.tsx';
import { Progress } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { useWatchedMailbox } from './queries.ts';
import { texts } from './texts.ts';

/** From this share on, the storage is called almost full. */
const lowShare = 0.9;

/** How the last fetch went, and how much of the storage is used. */
export function MailboxState({ mailbox }: { mailbox: InvoiceMailbox }) {
  const t = texts.value;
  useWatchedMailbox();
  const { isActive, isPaused, lastFetchedAt, lastError, storedBytes, maxStoredBytes } = mailbox;
  return (
    <>
      {isPaused && <Status kind="error">{t.paused}</Status>}
      {lastError && !isPaused && (
        <div>
          <p>{t.lastFailed}</p>
          <ImapFailure kind={lastError} />
        </div>
      )}
      {isActive === false && <Status kind="warning">{t.isOff}</Status>}
      <p class={profile.note}>
        {lastFetchedAt ? (
          <>
            {t.lastFetched} <Time value={lastFetchedAt} style="relative" />
          </>
        ) : (
          t.neverFetched
        )}
        {' · '}
        {t.storage(formatBytes(storedBytes), formatBytes(maxStoredBytes))}
      </p>
      {storedBytes >= maxStoredBytes * lowShare && (
        <>
          <Progress
            label={t.storage(formatBytes(storedBytes), formatBytes(maxStoredBytes))}
            value={Math.min(storedBytes, maxStoredBytes)}
            max={maxStoredBytes}
          />
          <Status kind={storedBytes >= maxStoredBytes ? 'error' : 'warning'}>
            {storedBytes >= maxStoredBytes ? t.storageFull : t.storageLow}
          </Status>
        </>
      )}
    </>
  );
}
