import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type ServerCertificate, serverCertificatePem, serverKeyPem } from './tls.ts';

/** A received request. */
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
  /** The number of conditional requests, to a path or to all. */
  conditional(path?: string): number;
  /** Answers a request; tests may replace it at any time. */
  answer: (request: SeenRequest, response: ServerResponse) => void | Promise<void>;
  stop(): Promise<void>;
}

/** A file with one event for each title, on consecutive days at nine in Berlin. */
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

/** Answers with a file of events and its ETag; 304 to a request with the same ETag. */
export function sendIcs({ headers }: SeenRequest, response: ServerResponse, ics: string, etag = '"1"'): void {
  if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { 'content-type': 'text/calendar', etag }).end(ics);
}

/** Starts a calendar server with https on a real socket. By default every path is a file with one event. */
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
