import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type ServerCertificate, serverCertificatePem, serverKeyPem } from './tls.ts';

/** A request as it came in. */
export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface CalendarServer {
  port: number;
  /** `https://localhost:port`. */
  origin: string;
  /** Every request so far. */
  seen: SeenRequest[];
  /** How many of them, to a path or to any, asked whether something has changed. */
  conditional(path?: string): number;
  /** What is answered; may be changed at any time. */
  answer: (request: SeenRequest, response: ServerResponse) => void | Promise<void>;
  stop(): Promise<void>;
}

/** A file of events that begin at nine in Berlin, one for each title, a day after the other. */
export const icsOf = (...titles: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Portal//Tests//EN',
    ...titles.flatMap((title, n) => [
      'BEGIN:VEVENT',
      `UID:${title}@example.org`,
      'DTSTAMP:20260101T000000Z',
      `SUMMARY:${title}`,
      `DTSTART;TZID=Europe/Berlin:202611${String(n + 10).padStart(2, '0')}T090000`,
      `DTEND;TZID=Europe/Berlin:202611${String(n + 10).padStart(2, '0')}T100000`,
      'END:VEVENT',
    ]),
    'END:VCALENDAR',
    '',
  ].join('\r\n');

/** Answers with a file of events under a tag; 304 to whoever has that one. */
export function sendIcs({ headers }: SeenRequest, response: ServerResponse, ics: string, etag = '"1"'): void {
  if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { 'content-type': 'text/calendar', etag }).end(ics);
}

/** A server of calendars by https on a real socket; every path is a file of one event unless told otherwise. */
export async function startCalendarServer(
  certificate: ServerCertificate = 'localhost',
  { port: wantedPort = 0 } = {},
): Promise<CalendarServer> {
  const sockets = new Set<Socket>();
  const seen: SeenRequest[] = [];
  const tls = createServer({ cert: serverCertificatePem(certificate), key: serverKeyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url: path = '/', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      Promise.resolve(server.answer(one, response)).catch(() => response.destroy());
    });
  });
  tls.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  tls.listen(wantedPort, '127.0.0.1');
  await once(tls, 'listening');
  const { port } = tls.address() as AddressInfo;
  const server: CalendarServer = {
    port,
    origin: `https://localhost:${port}`,
    seen,
    conditional: (path) =>
      seen.filter((one) => one.headers['if-none-match'] !== undefined && (path === undefined || one.path === path))
        .length,
    answer: (request, response) => sendIcs(request, response, icsOf('Jour fixe')),
    async stop() {
      for (const socket of sockets) socket.destroy();
      tls.close();
      await once(tls, 'close');
    },
  };
  return server;
}
