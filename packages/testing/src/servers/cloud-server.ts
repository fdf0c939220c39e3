import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServerCertificate, serverCertificatePem, serverKeyPem } from './tls.ts';

/** The answer of a cloud; `silence` never answers, `reset` breaks the connection in the middle of the answer. */
export type CloudAnswer =
  | { status?: number; headers?: OutgoingHttpHeaders; body: string | Buffer | Iterable<Buffer> }
  | 'silence'
  | 'reset';

export interface CloudServer {
  port: number;
  /** Every folder below it is a cloud. */
  origin: string;
  /** The answer of the cloud in a folder (`''` is the root); called for each request, and replaceable at any time. */
  answer: (folder: string, path: string) => CloudAnswer | Promise<CloudAnswer>;
  /** Number of requests so far, to a folder or to all. */
  requests(folder?: string): number;
  /** Maximum number of concurrent requests so far. */
  maxAtOnce(): number;
  /** Refuses connections, as when the host is down. */
  switchOff(): Promise<void>;
  switchOn(): Promise<void>;
  stop(): Promise<void>;
}

/** The status document of a cloud. */
export const statusDocument = (changes: Record<string, unknown> = {}): { body: string } => ({
  body: JSON.stringify({
    installed: true,
    maintenance: false,
    needsDbUpgrade: false,
    version: '35.0.0.1',
    versionstring: '35.0.0',
    edition: '',
    productname: 'Testcloud',
    extendedSupport: false,
    ...changes,
  }),
});

/** The answer of a server whose program does not start. */
export const brokenCloud: CloudAnswer = { status: 503, body: '<h1>Service Unavailable</h1>' };

/** Starts clouds on real sockets of 127.0.0.1, with http or, with a certificate, https. By default they are healthy. */
export async function startCloudServer({
  port: wantedPort = 0,
  certificate,
  latencyMs = 0,
}: { port?: number; certificate?: ServerCertificate; latencyMs?: number } = {}): Promise<CloudServer> {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  let underWay = 0;
  let maxUnderWay = 0;

  const folderOf = (path: string): string => /^\/(.*?)\/?(?:status\.php)?$/.exec(path)?.[1] ?? path;

  async function serve({ url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/'] = url.split('?', 1);
    const folder = folderOf(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
    const answer = await server.answer(folder, path);
    if (latencyMs > 0) await pause(latencyMs);
    if (answer === 'silence') return;
    const { status = 200, headers = {}, body } = answer === 'reset' ? { body: '{"installed":' } : answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    if (typeof body === 'string' || Buffer.isBuffer(body)) response.write(body);
    else for (const chunk of body) if (!response.write(chunk)) await once(response, 'drain');
    if (answer !== 'reset') return void response.end();
    await pause(20);
    response.destroy();
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    underWay += 1;
    maxUnderWay = Math.max(maxUnderWay, underWay);
    response.once('close', () => (underWay -= 1));
    serve(request, response).catch(() => response.destroy());
  };
  const open = async (port: number) => {
    const http =
      certificate === undefined
        ? createServer(listener)
        : createTlsServer({ key: serverKeyPem, cert: serverCertificatePem(certificate) }, listener);
    http.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    http.listen(port, '127.0.0.1', 4_096);
    await once(http, 'listening');
    return http;
  };
  let http = await open(wantedPort);
  let isOn = true;
  const { port } = http.address() as AddressInfo;

  const server: CloudServer = {
    port,
    origin: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    answer: () => statusDocument(),
    requests: (folder) =>
      folder === undefined ? [...counts.values()].reduce((sum, count) => sum + count, 0) : (counts.get(folder) ?? 0),
    maxAtOnce: () => maxUnderWay,
    async switchOff() {
      if (!isOn) return;
      isOn = false;
      const closed = once(http, 'close');
      http.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async switchOn() {
      if (isOn) return;
      http = await open(port);
      isOn = true;
    },
    stop: () => server.switchOff(),
  };
  return server;
}
