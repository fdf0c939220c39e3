import type { SmtpConfig } from '@portal/client/interface';

export type Security = NonNullable<SmtpConfig['security']>;

/** The mail settings as a person edits them. */
export interface MailDraft {
  sender: 'service' | 'own';
  host: string;
  port: string;
  security: Security;
  username: string;
  /** Empty keeps the stored one. */
  password: string;
  verifyTls: boolean;
  fromAddress: string;
  fromName: string;
  replyTo: string;
  bugReportRecipient: string;
}

/** The port that mail servers use for each kind of encryption. */
const usualPorts: Record<Security, string> = { starttls: '587', tls: '465', none: '25' };

export const draftOf = (config: SmtpConfig): MailDraft => ({
  sender: config.host === null ? 'service' : 'own',
  host: config.host ?? '',
  port: String(config.port ?? usualPorts.starttls),
  security: config.security ?? 'starttls',
  username: config.username ?? '',
  password: '',
  verifyTls: config.verifyTls ?? true,
  fromAddress: config.fromAddress ?? '',
  fromName: config.fromName ?? '',
  replyTo: config.replyTo ?? '',
  bugReportRecipient: config.bugReportRecipient ?? '',
});

/** Another encryption, with its usual port unless the port is a special one. */
export function withSecurity({ port }: MailDraft, security: Security): Pick<MailDraft, 'port' | 'security'> {
  const isUsual = port === '' || Object.values(usualPorts).includes(port);
  return { security, port: isUsual ? usualPorts[security] : port };
}

/** What the service takes. Without an own server, only the recipient of bug reports counts. */
export function bodyOf(draft: MailDraft) {
  const { sender, port, password, bugReportRecipient, ...server } = draft;
  if (sender === 'service') return { ...noServer, bugReportRecipient };
  return {
    ...server,
    port: port.trim() === '' ? null : Number(port),
    // Without a username nobody signs in, so nothing stays stored.
    password: server.username.trim() === '' ? null : password,
    bugReportRecipient,
  };
}

const noServer = {
  host: null,
  port: null,
  security: null,
  username: null,
  password: null,
  verifyTls: true,
  fromAddress: null,
  fromName: null,
  replyTo: null,
};
