import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServer {
  port: number;
  /** `http://127.0.0.1:port`. */
  origin: string;
  /** Number of opened connections, also those without a request. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts an HTTP server on a port of 127.0.0.1, by default a free one, and also of ::1 if the machine has it. */
export async function startHttpServer(listener: RequestListener, wantedPort = 0): Promise<HttpServer> {
  let connections = 0;
  const start = async (host: string, port: number) => {
    const server = createServer(listener);
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  };
  const server = await start('127.0.0.1', wantedPort);
  const { port } = server.address() as AddressInfo;
  const beside = await start('::1', port).catch(() => null);
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    connections: () => connections,
    async close() {
      for (const one of [server, beside]) {
        if (!one) continue;
        one.closeAllConnections();
        one.close();
        await once(one, 'close');
      }
    },
  };
}
