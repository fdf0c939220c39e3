import type { Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { classifySmtpError } from './classify-smtp-error.ts';
import { MailError } from './mail-error.ts';
import { composeMail } from './outgoing-mail.ts';
import type { OutgoingMail } from './outgoing-mail.ts';
import type { SmtpSettings } from './smtp-settings.ts';

export interface TransportLimits {
  /** Maximum connections to the server, 1–10. */
  maxConnections?: number;
  /** From the name lookup to the end of the TLS handshake. */
  connectTimeoutMs?: number;
  greetingTimeoutMs?: number;
  /** Silence during a conversation. */
  socketTimeoutMs?: number;
  /** For one mail in total, including the wait for a connection: stops servers that trickle. */
  overallTimeoutMs?: number;
}

/** For a mail whose result a person waits for: shorter than the limits of the outbox. */
export const interactiveLimits: TransportLimits = {
  maxConnections: 1,
  connectTimeoutMs: 8_000,
  greetingTimeoutMs: 8_000,
  socketTimeoutMs: 10_000,
  overallTimeoutMs: 15_000,
};

interface Cancellable {
  signal?: AbortSignal;
}

export interface Delivery {
  messageId: string;
  /** The server's answer when it accepted the mail. */
  response: string;
}

export interface MailTransport {
  /** Resolves once the server has accepted the mail; throws a MailError, or the signal's reason if it is aborted. */
  send: (mail: OutgoingMail, options?: Cancellable) => Promise<Delivery>;
  /** Connects and signs in without sending anything. */
  verify: (options?: Cancellable) => Promise<void>;
  /** Closes idle connections now, and busy ones after their current mail. */
  close: () => void;
}

const connectionOptions = (settings: SmtpSettings, limits: TransportLimits, connectionTimeout: number) => ({
  host: settings.host,
  port: settings.port,
  secure: settings.security === 'tls',
  requireTLS: settings.security === 'starttls',
  ignoreTLS: settings.security === 'none',
  tls: { rejectUnauthorized: settings.verifyTls },
  connectionTimeout,
  greetingTimeout: limits.greetingTimeoutMs ?? 10_000,
  socketTimeout: limits.socketTimeoutMs ?? 20_000,
  socketCloseTimeout: 2_000,
  maxResponseSize: 64 * 1024,
});

/** A connection opened with the settings' `dial`; nodemailer's own lookup would skip the address check. */
const dialIn = async ({ host, port, dial }: SmtpSettings, timeoutMs: number, signal?: AbortSignal): Promise<Socket> => {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await dial(host, port, signal ? AbortSignal.any([signal, late]) : late);
  } catch (error) {
    throw late.aborted
      ? Object.assign(new Error('Connection timeout', { cause: error }), { code: 'ETIMEDOUT' })
      : error;
  }
};

const credentials = ({ username, password }: SmtpSettings) =>
  username ? { user: username, pass: password ?? '' } : null;

const signIn = (connection: SMTPConnection, settings: SmtpSettings): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.on('error', reject);
    connection.once('end', () => reject(new Error('The connection ended before the server was ready.')));
    connection.connect((connectError) => {
      const auth = credentials(settings);
      if (connectError) {
        reject(connectError);
      } else if (auth === null) {
        resolve();
      } else {
        connection.login(auth, (loginError) => (loginError ? reject(loginError) : resolve()));
      }
    });
  });

/** Mail delivery over one SMTP server; connections stay open between mails. Connects with the first mail. */
export const openTransport = (settings: SmtpSettings, limits: TransportLimits = {}): MailTransport => {
  const connectTimeoutMs = limits.connectTimeoutMs ?? 10_000;
  const options = connectionOptions(settings, limits, connectTimeoutMs);
  const overallTimeoutMs = limits.overallTimeoutMs ?? 60_000;
  const auth = credentials(settings);
  const pool = createTransport({
    ...options,
    getSocket: (_: unknown, answer: (error: Error | null, socket?: { connection: Socket }) => void) => {
      dialIn(settings, connectTimeoutMs).then((connection) => answer(null, { connection }), answer);
    },
    pool: true,
    maxConnections: Math.min(Math.max(limits.maxConnections ?? 5, 1), 10),
    maxMessages: 100,
    // Only for pooled connections that the server has dropped meanwhile, before a byte of the message was sent.
    maxRequeues: 3,
    idleTimeout: 30_000,
    // With a user name, sign-in is mandatory: without this, a server that offers no AUTH would get the mail without sign-in.
    ...(auth === null ? {} : { auth, forceAuth: true }),
  });

  const withDeadline = async <Result>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    signal?.throwIfAborted();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), overallTimeoutMs);
    try {
      return await work(signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]));
    } catch (error) {
      if (signal?.aborted) {
        throw signal.reason;
      }
      if (deadline.signal.aborted) {
        const where = `The mail server ${settings.host}:${settings.port}`;
        throw new MailError('timeout', `${where} took longer than ${overallTimeoutMs / 1000} seconds.`, error);
      }
      throw classifySmtpError(error, settings);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    send: async (mail, { signal } = {}) => {
      const message = composeMail(mail, settings);
      const { messageId, response } = await withDeadline(signal, (signalOrDeadline) =>
        pool.sendMail({ ...message, signal: signalOrDeadline }),
      );
      return { messageId, response: response ?? '' };
    },
    verify: ({ signal } = {}) =>
      withDeadline(signal, async (signalOrDeadline) => {
        const socket = await dialIn(settings, connectTimeoutMs, signalOrDeadline);
        const connection = new SMTPConnection({ ...options, connection: socket });
        const giveUp = () => connection.close();
        signalOrDeadline.addEventListener('abort', giveUp, { once: true });
        try {
          await signIn(connection, settings);
          connection.quit();
        } catch (error) {
          connection.close();
          throw error;
        } finally {
          signalOrDeadline.removeEventListener('abort', giveUp);
        }
      }),
    close: () => pool.close(),
  };
};
