import { PortalError } from '@portal/domain/errors';

/** Why a mail was not sent, and whether a later attempt can succeed although nothing is reconfigured. */
const canRetry = {
  /** No connection, or it was lost. */
  connect: true,
  /** The server can be reached but does not answer in time. */
  timeout: true,
  /** The server's certificate is not valid. */
  certificate: false,
  /**
   * Sign-in failed: wrong user name or password, or the server requires or offers another way. Many providers lock accounts that repeat a
   * refused sign-in.
   */
  auth: false,
  /** The server does not accept mail for this recipient. */
  recipient: false,
  /** The server or our own check rejects this message or sender. */
  rejected: false,
  /** The server asks for a later attempt. */
  temporary: true,
  /** The server does not speak SMTP, or its encryption does not match the settings. */
  protocol: false,
};

export type MailFailureClass = keyof typeof canRetry;

/** A mail was not accepted; the message is one plain sentence for an administrator, without secrets. */
export class MailError extends PortalError {
  readonly failure: MailFailureClass;
  readonly retry: boolean;

  constructor(failure: MailFailureClass, message: string, cause?: unknown) {
    super('MAIL_DELIVERY_FAILED', message, { cause });
    this.name = 'MailError';
    this.failure = failure;
    this.retry = canRetry[failure];
  }
}
