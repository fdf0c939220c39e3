import { PortalError } from '@portal/domain/errors';

/** Why a mail did not go out, and whether a later attempt can do better without anybody changing anything. */
const canRetry = {
  /** No connection, or it broke off. */
  connect: true,
  /** The server is there but does not answer in time. */
  timeout: true,
  /** The server's certificate does not pass the check. */
  certificate: false,
  /** Not signed in: user name, password, or a server that wants or offers something else. */
  auth: false,
  /** The server will not take mail for this recipient. */
  recipient: false,
  /** The server, or our own check, will not take this message or sender. */
  rejected: false,
  /** The server asks to come back later. */
  temporary: true,
  /** No common language: not an SMTP server, or encryption that does not match the settings. */
  protocol: false,
};

export type MailFailureClass = keyof typeof canRetry;

/** A mail that was not accepted; the message is one plain sentence for an administrator, without any secret. */
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
