import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { MailError } from '@portal/mail/mail-error';
import { messageIdFor } from '@portal/mail/message-id';
import type { OutgoingMail } from '@portal/mail/outgoing-mail';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { openTransport } from '@portal/mail/transport';
import type { MailTransport, TransportLimits } from '@portal/mail/transport';
import { plainDial } from './plain-dial.ts';
import { serverCertificate, startSmtpServer } from './smtp-server.ts';
import type { SmtpServerOptions, TestSmtpServer } from './smtp-server.ts';

/** Starts an SMTP server for one test. */
export const testServer = async (options: SmtpServerOptions = {}): Promise<TestSmtpServer> => {
  const server = await startSmtpServer(options);
  onTestFinished(() => server.stop());
  return server;
};

/** Starts a TCP server for one test, which handles its connections. Returns the port. */
export const testTcpServer = async (onConnection: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

/** A port of 127.0.0.1 that nothing listens on. */
export const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** Opens a transport for one test; unencrypted by default. */
export const testTransport = (
  settings: Partial<SmtpSettings> & { port: number },
  limits: TransportLimits = {},
): MailTransport => {
  const transport = openTransport(
    {
      host: '127.0.0.1',
      security: 'none',
      fromAddress: 'portal@muster.example',
      verifyTls: false,
      dial: plainDial,
      ...settings,
    },
    limits,
  );
  onTestFinished(() => transport.close());
  return transport;
};

/** Makes this process trust one of our certificates until the test ends. */
export const trust = (name: 'localhost' | 'elsewhere' | 'expired'): void => {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, serverCertificate(name)]);
  onTestFinished(() => setDefaultCACertificates(before));
};

export const testMail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  to: { address: 'erika@example.com', name: 'Erika Beispiel' },
  subject: 'Grüße',
  text: 'Schönen Tag!\n',
  messageId: messageIdFor('test', 'muster.example'),
  ...change,
});

export const failureOf = async (work: Promise<unknown>): Promise<MailError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MailError);
  return error as MailError;
};
