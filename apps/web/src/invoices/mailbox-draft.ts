import type { InvoiceMailbox } from '@portal/client/interface';
import { imapBodyOf, type ImapDraft, imapDraftOf } from '../ui/imap-draft.ts';

/** The settings of the mailbox as a person edits them. */
export interface MailboxDraft extends ImapDraft {
  processedFolder: string;
  failedFolder: string;
  isActive: boolean;
}

export const draftOf = (mailbox: InvoiceMailbox): MailboxDraft => ({
  ...imapDraftOf(mailbox),
  processedFolder: mailbox.processedFolder ?? '',
  failedFolder: mailbox.failedFolder ?? '',
  isActive: mailbox.isActive ?? true,
});

export const bodyOf = ({ processedFolder, failedFolder, isActive, ...imap }: MailboxDraft) => ({
  ...imapBodyOf(imap),
  processedFolder: processedFolder.trim(),
  failedFolder: failedFolder.trim(),
  isActive,
});
