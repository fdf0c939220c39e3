import { certificateFault } from '@portal/domain/certificate-fault';
import { MailError } from './mail-error.ts';
import type { MailFailureClass } from './mail-error.ts';
import { oneLine } from './safe-text.ts';
import type { SmtpSettings } from './smtp-settings.ts';

type Server = Pick<SmtpSettings, 'host' | 'port' | 'security' | 'username' | 'password'>;

/** The fields of nodemailer and Node errors that distinguish failures. */
interface SmtpErrorFields {
  message: string;
  code: string;
  /** Node's code, if nodemailer has replaced it with its own. */
  originalCode: string;
  /** The SMTP step that failed: `RCPT TO`, `AUTH PLAIN`, `CONN` … */
  command: string;
  response: string;
  responseCode: number;
}

const fieldsOf = (error: unknown): SmtpErrorFields => {
  const known: Partial<SmtpErrorFields> = error instanceof Error ? error : {};
  const { message = '', code = '', originalCode = '', command = '', response = '', responseCode = 0 } = known;
  return { message, code, originalCode: originalCode || code, command, response, responseCode };
};

/** The server's answer, for the reader; an answer that contains a secret is not quoted. */
const quote = (response: string, { password }: Server): string => {
  const text = oneLine(response).slice(0, 200);
  const secrets = password ? [password, Buffer.from(password).toString('base64')] : [];
  return text === '' || secrets.some((secret) => response.includes(secret)) ? '' : ` The server answered: "${text}"`;
};

/** A failure class, and the rest of a sentence that begins with the server. */
type Diagnosis = [failure: MailFailureClass, about: string];

const unreachable = (code: string): Diagnosis => {
  switch (code) {
    case 'ECONNREFUSED':
      return ['connect', 'accepts no connections; check host and port.'];
    case 'ENOTFOUND':
      return ['connect', 'could not be found; check the spelling of the host.'];
    case 'OUTBOUND_BLOCKED':
      return ['connect', 'is not at an address that the portal may call.'];
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return ['connect', 'cannot be reached from this network.'];
    default:
      return ['connect', 'broke off the connection.'];
  }
};

const failedSignIn = ({ responseCode, response }: SmtpErrorFields, server: Server): Diagnosis => {
  const quoted = quote(response, server);
  if (responseCode === 538 || /starttls/i.test(response)) {
    return ['auth', `does not allow signing in without encryption; choose STARTTLS or TLS.${quoted}`];
  }
  if (!server.username) {
    return ['auth', `requires a user name and password.${quoted}`];
  }
  if (!server.password) {
    return ['auth', 'needs a password for the user name, and none is set.'];
  }
  if ([500, 502, 503, 504].includes(responseCode)) {
    const advice = server.security === 'none' ? 'choose STARTTLS or TLS, or ' : '';
    return ['auth', `does not offer signing in this way; ${advice}leave the user name empty.${quoted}`];
  }
  return ['auth', `did not accept the user name or password.${quoted}`];
};

const refused = (fields: SmtpErrorFields, server: Server): Diagnosis => {
  const quoted = quote(fields.response, server);
  switch (fields.command) {
    case 'RCPT TO':
      return ['recipient', `does not accept mail for this recipient.${quoted}`];
    case 'MAIL FROM':
      // 530: the server requires a sign-in first (RFC 4954 section 6).
      return fields.responseCode === 530
        ? failedSignIn(fields, server)
        : ['rejected', `does not accept this sender address.${quoted}`];
    case 'DATA':
      return ['rejected', `refused the message.${quoted}`];
    default:
      return ['rejected', `refuses to talk to this system.${quoted}`];
  }
};

const diagnose = (fields: SmtpErrorFields, server: Server): Diagnosis => {
  const { code, originalCode, response, responseCode } = fields;
  const certificate = certificateFault(originalCode);
  if (certificate !== null) {
    return ['certificate', `shows a certificate that ${certificate}.`];
  }
  if (responseCode >= 400 && responseCode < 500) {
    return ['temporary', `cannot take the mail right now.${quote(response, server)}`];
  }
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    return failedSignIn(fields, server);
  }
  if (code === 'ETLS' && response !== '') {
    return ['protocol', 'does not offer STARTTLS; choose TLS or another port.'];
  }
  if (responseCode >= 500) {
    return refused(fields, server);
  }
  if (code === 'EMESSAGE') {
    return ['rejected', 'does not accept messages of this size.'];
  }
  if (code === 'EENVELOPE') {
    return ['recipient', 'cannot take this recipient or sender address.'];
  }
  if (code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT') {
    const advice = server.port === 465 && server.security !== 'tls' ? ' Port 465 usually wants TLS.' : '';
    return ['timeout', `did not answer in time.${advice}`];
  }
  if (originalCode === 'EPROTO' || originalCode.startsWith('ERR_SSL') || code === 'ETLS') {
    const advice = server.security === 'tls' ? 'try STARTTLS, or port 465.' : 'try TLS or another port.';
    return ['protocol', `could not agree on encryption with this system; ${advice}`];
  }
  if (code === 'EPROTOCOL') {
    return ['protocol', 'does not answer like a mail server; check the port.'];
  }
  return unreachable(originalCode);
};

/** Explains a nodemailer error to the administrator who set up the mail server. */
export const classifySmtpError = (error: unknown, server: Server): MailError => {
  const [failure, about] = diagnose(fieldsOf(error), server);
  return new MailError(failure, `The mail server ${server.host}:${server.port} ${about}`, error);
};
