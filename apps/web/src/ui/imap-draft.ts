import type { TenderAlertMailbox } from '@portal/client/interface';

export type ImapSecurity = NonNullable<TenderAlertMailbox['security']>;

/** The settings of a mailbox as a person edits them. */
export interface ImapDraft {
  host: string;
  port: string;
  security: ImapSecurity;
  username: string;
  /** Empty keeps the stored one. */
  password: string;
  folder: string;
  caCertificatePem: string;
}

type StoredImap = Pick<TenderAlertMailbox, 'host' | 'port' | 'security' | 'username' | 'folder' | 'caCertificatePem'>;

/** The port that mail servers use for each kind of encryption. */
const usualPorts: Record<ImapSecurity, string> = { tls: '993', starttls: '143', none: '143' };

export const imapDraftOf = (stored: StoredImap): ImapDraft => ({
  host: stored.host ?? '',
  port: String(stored.port ?? usualPorts.tls),
  security: stored.security ?? 'tls',
  username: stored.username ?? '',
  password: '',
  folder: stored.folder ?? 'INBOX',
  caCertificatePem: stored.caCertificatePem ?? '',
});

/** What the service takes of these fields. */
export function imapBodyOf({ host, port, security, username, password, folder, caCertificatePem }: ImapDraft) {
  return {
    host: host.trim(),
    // What is no number, the service refuses with words for this field.
    port: Number(port.trim()),
    security,
    username: username.trim(),
    password,
    folder: folder.trim() === '' ? 'INBOX' : folder.trim(),
    caCertificatePem,
  };
}

/** Another encryption, with its usual port unless the port is a special one. */
export function withSecurity({ port }: Pick<ImapDraft, 'port'>, security: ImapSecurity) {
  const isUsual = port.trim() === '' || Object.values(usualPorts).includes(port.trim());
  return { security, port: isUsual ? usualPorts[security] : port };
}
