import type { AddressPolicy } from '@portal/connectors/http/checked-address';
import { ImapFailure } from '@portal/connectors/imap/imap-failure';
import { openMailbox } from '@portal/connectors/imap/mailbox';
import type { ImapSettings, ImapTest } from '@portal/domain/imap';
import { Secret } from '@portal/domain/secret';
import { SECOND } from '@portal/domain/time';

/** A mailbox to test, as plain data. It includes the password, so only the sandbox of this test receives it. */
export interface MailboxTrialOrder {
  settings: ImapSettings;
  password: string | null;
  policy: AddressPolicy;
  folder: string;
  /** Other folders that must exist. */
  otherFolders: string[];
  testMs: number;
}

/** Signs in, opens the folder read-only and checks that the other folders exist. A failure of the mailbox is part of the result. */
export async function run(order: MailboxTrialOrder): Promise<ImapTest> {
  const { settings, password, policy, folder, otherFolders, testMs } = order;
  const server = { ...settings, policy, password: password === null ? null : new Secret(password) };
  const signal = AbortSignal.timeout(testMs);
  try {
    using mailbox = await openMailbox(server, { folder, isWritable: false, signal });
    for (const other of otherFolders) {
      if (!(await mailbox.hasFolder(other)))
        throw new ImapFailure('folderMissing', server, `has no folder ${other} to move mails to.`);
    }
    return { ok: true, error: null, message: 'The mailbox can be read.' };
  } catch (error) {
    const failure = signal.aborted
      ? new ImapFailure('timeout', server, `did not answer within ${testMs / SECOND} seconds.`, error)
      : error;
    if (!(failure instanceof ImapFailure)) throw failure;
    return { ok: false, error: failure.kind, message: failure.message };
  }
}
