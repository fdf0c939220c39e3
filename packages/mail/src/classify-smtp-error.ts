import { certificateFault } from '@portal/domain/certificate-fault';
import { MailError } from './mail-error.ts';
import type { MailFailureClass } from './mail-error.ts';
import { oneLine } from './safe-text.ts';
import type { SmtpSettings } from './smtp-settings.ts';

type Server = Pick<SmtpSettings, 'host' | 'port' | 'security' | 'username' | 'password'>;

/** The fields nodemailer and Node set on an error, as far as they tell failures apart. */
interface SmtpErrorFields {
  message: string;
  code: string;
  /** Node's own code, where nodemailer has put its own over it. */
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

/** What the server answered, for the reader; a server that repeats a secret is not quoted. */
const quote = (response: string, { password }: Server): string => {
  const text = oneLine(response).slice(0, 200);
  const secrets = password ? [password, Buffer.from(password).toString('base64')] : [];
  return text === '' || secrets.some((secret) => response.includes(secret)) ? '' : ` The server answered: "${text}"`;
};

/** A class, and what there is to say about the server. */
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
  const said = quote(response, server);
  if (responseCode === 538 || /starttls/i.test(response)) {
    return ['auth', `lets nobody sign in without encryption; choose STARTTLS or TLS.${said}`];
  }
  if (!server.username) {
    return ['auth', `requires a user name and password.${said}`];
  }
  if (!server.password) {
    return ['auth', 'needs a password for the user name, and none is set.'];
  }
  if ([500, 502, 503, 504].includes(responseCode)) {
    const advice = server.security === 'none' ? 'choose STARTTLS or TLS, or ' : '';
    return ['auth', `does not offer signing in this way; ${advice}leave the user name empty.${said}`];
  }
  return ['auth', `did not accept the user name or password.${said}`];
};

const refused = (fields: SmtpErrorFields, server: Server): Diagnosis => {
  const said = quote(fields.response, server);
  switch (fields.command) {
    case 'RCPT TO':
      return ['recipient', `does not accept mail for this recipient.${said}`];
    case 'MAIL FROM':
      // 530 is the answer of a server that wants a sign-in first (RFC 4954 section 6).
      return fields.responseCode === 530
        ? failedSignIn(fields, server)
        : ['rejected', `does not accept this sender address.${said}`];
    case 'DATA':
      return ['rejected', `refused the message.${said}`];
    default:
      return ['rejected', `refuses to talk to this system.${said}`];
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
    return ['recipient', 'cannot be given this recipient or sender address.'];
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

/** What a nodemailer error means, in the words of somebody who set up the mail server. */
export const classifySmtpError = (error: unknown, server: Server): MailError => {
  const [failure, about] = diagnose(fieldsOf(error), server);
  return new MailError(failure, `The mail server ${server.host}:${server.port} ${about}`, error);
};
