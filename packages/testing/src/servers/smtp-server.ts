import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { readMail } from '../read-mail.ts';
import type { ReadMail } from '../read-mail.ts';

export interface ReceivedMail extends ReadMail {
  envelopeFrom: string;
  envelopeTo: string[];
  raw: Buffer;
  isEncrypted: boolean;
  /** Name of the signed-in account; null without one. */
  username: string | null;
}

/** A point of the conversation at which the server can fail. */
export type SmtpStep =
  | { at: 'greeting' }
  | { at: 'sender'; address: string }
  | { at: 'recipient'; address: string }
  /** The client has begun to transmit the message. */
  | { at: 'transmission' }
  /** The message has arrived and will be stored unless this refuses it; the client has no answer yet. */
  | { at: 'message'; mail: ReceivedMail };

/** A refusal, a broken connection, or no answer at all. */
export type SmtpTrouble = { code: number; text: string } | 'drop' | 'silence';

export interface SmtpServerOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Without `starttls` or `tls` the server offers no encryption. */
  tls?: 'none' | 'starttls' | 'tls';
  /** File of `mail-fixtures`; see the README there. */
  certificate?: 'localhost' | 'elsewhere' | 'expired';
  /** The account that may send; without it the server offers no sign-in and accepts all mails. */
  auth?: { username: string; password: string };
  /** Delay of the answer to a complete message. */
  delayMs?: number;
  failures?: (step: SmtpStep) => SmtpTrouble | undefined;
  onMessage?: (mail: ReceivedMail) => void | Promise<void>;
}

export interface TestSmtpServer {
  port: number;
  url: string;
  messages: ReceivedMail[];
  /** Connections opened so far. */
  connectionCount: () => number;
  /** The first mail that the predicate accepts, arrived or yet to arrive. */
  waitFor: (predicate: (mail: ReceivedMail) => boolean, timeoutMs?: number) => Promise<ReceivedMail>;
  stop: () => Promise<void>;
}

const maxMessageBytes = 20 * 1024 * 1024;
const maxMessages = 50_000;

const fixture = (name: string): string => readFileSync(new URL(`./mail-fixtures/${name}.pem`, import.meta.url), 'utf8');

/** The certificate that a client must trust to accept the server. */
export const serverCertificate = (name: 'localhost' | 'elsewhere' | 'expired'): string => fixture(name);

const collect = async (stream: SMTPServerDataStream): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= maxMessageBytes) {
      chunks.push(chunk);
    }
  }
  if (bytes > maxMessageBytes) {
    throw Object.assign(new Error('Message too large'), { responseCode: 552 });
  }
  return Buffer.concat(chunks);
};

const refusal = ({ code, text }: { code: number; text: string }): Error =>
  Object.assign(new Error(text), { responseCode: code });

/** Starts a real SMTP server on 127.0.0.1 that stores what it receives. */
export const startSmtpServer = async (options: SmtpServerOptions = {}): Promise<TestSmtpServer> => {
  const { tls = 'none', auth, delayMs = 0, failures, onMessage } = options;
  const messages: ReceivedMail[] = [];
  const listeners = new Set<(mail: ReceivedMail) => void>();
  const sockets = new Map<number, Socket>();
  let connectionCount = 0;

  /** Calls back with the refusal or without an argument; for `drop` and `silence` it never calls back. */
  const answer = (
    trouble: SmtpTrouble | undefined,
    session: SMTPServerSession,
    callback: (refused?: Error) => void,
  ): void => {
    if (trouble === 'drop') {
      sockets.get(session.remotePort)?.destroy();
    } else if (trouble !== 'silence') {
      callback(trouble === undefined ? undefined : refusal(trouble));
    }
  };

  const receive = async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<ReceivedMail> => {
    const raw = await collect(stream);
    const { mailFrom, rcptTo } = session.envelope;
    return {
      ...readMail(raw),
      envelopeFrom: mailFrom === false ? '' : mailFrom.address,
      envelopeTo: rcptTo.map(({ address }) => address),
      raw,
      isEncrypted: session.secure,
      username: typeof session.user === 'string' ? session.user : null,
    };
  };

  const store = async (mail: ReceivedMail): Promise<void> => {
    if (messages.length === maxMessages) {
      throw refusal({ code: 452, text: `This test server stores at most ${maxMessages} messages` });
    }
    messages.push(mail);
    await onMessage?.(mail);
    for (const listener of listeners) {
      listener(mail);
    }
    await pause(delayMs);
  };

  const takeMessage = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const early = failures?.({ at: 'transmission' });
    if (early === 'drop' || early === 'silence') {
      return early;
    }
    const mail = await receive(stream, session);
    const trouble = early ?? failures?.({ at: 'message', mail });
    if (typeof trouble !== 'object') {
      await store(mail);
    }
    return trouble;
  };

  const server = new SMTPServer({
    secure: tls === 'tls',
    key: fixture('key'),
    cert: serverCertificate(options.certificate ?? 'localhost'),
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(auth === undefined ? ['AUTH'] : [])],
    authOptional: auth === undefined,
    allowInsecureAuth: tls === 'none',
    disableReverseLookup: true,
    logger: false,
    onConnect: (session, callback) => answer(failures?.({ at: 'greeting' }), session, callback),
    onAuth: (attempt, _session, callback) => {
      const isRight = attempt.username === auth?.username && attempt.password === auth?.password;
      callback(isRight ? null : refusal({ code: 535, text: 'Authentication failed' }), { user: attempt.username });
    },
    onMailFrom: ({ address }, session, callback) => answer(failures?.({ at: 'sender', address }), session, callback),
    onRcptTo: ({ address }, session, callback) => answer(failures?.({ at: 'recipient', address }), session, callback),
    onData: (stream, session, callback) => {
      stream.on('error', callback);
      takeMessage(stream, session)
        .then((trouble) => answer(trouble, session, callback))
        .catch(callback);
    },
  });

  // Some tests break the connection or refuse the handshake on purpose.
  server.on('error', () => {});
  server.server.on('connection', (socket) => {
    connectionCount += 1;
    const { remotePort = 0 } = socket;
    sockets.set(remotePort, socket);
    socket.once('close', () => sockets.delete(remotePort));
  });
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;

  return {
    port,
    url: `${tls === 'tls' ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    messages,
    connectionCount: () => connectionCount,
    waitFor: (predicate, timeoutMs = 5_000) => {
      const here = messages.find(predicate);
      if (here !== undefined) {
        return Promise.resolve(here);
      }
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(timer);
          listeners.delete(listener);
        };
        const listener = (mail: ReceivedMail) => {
          if (predicate(mail)) {
            settle();
            resolve(mail);
          }
        };
        const timer = setTimeout(() => {
          settle();
          const arrived = messages.map(({ subject, envelopeTo }) => `${subject} → ${envelopeTo.join(', ')}`);
          reject(new Error(`No such mail within ${timeoutMs} ms. Arrived: ${arrived.slice(-10).join('; ') || 'none'}`));
        }, timeoutMs);
        listeners.add(listener);
      });
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets.values()) {
          socket.destroy();
        }
      }),
  };
};
