import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpGate {
  /** The given address with the host and port of the gate. */
  url: string;
  /** Breaks every connection and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
  /** Accepts new connections without forwarding them until `letGo`, as when the server hangs. */
  hold(): void;
  letGo(): void;
  /** Number of accepted connections so far. */
  connections(): number;
}

/** Opens a proxy to a server that can be cut, as when the server is down. */
export async function openTcpGate(target: string): Promise<TcpGate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let ownPort = 0;
  let connections = 0;
  let held = Promise.withResolvers<void>();
  held.resolve();

  function forward(inside: Socket): void {
    const outside = connect(Number(port), hostname);
    sockets.add(outside);
    outside.on('error', () => undefined);
    for (const socket of [inside, outside]) {
      socket.on('close', () => {
        sockets.delete(socket);
        inside.destroy();
        outside.destroy();
      });
    }
    inside.pipe(outside).pipe(inside);
  }

  async function open(): Promise<void> {
    const made = createServer((inside) => {
      connections += 1;
      sockets.add(inside);
      inside.on('error', () => undefined).on('close', () => sockets.delete(inside));
      void held.promise.then(() => inside.destroyed || forward(inside));
    });
    made.listen(ownPort, '127.0.0.1');
    await once(made, 'listening');
    ownPort = (made.address() as AddressInfo).port;
    server = made;
  }

  await open();
  const url = new URL(target);
  url.host = `127.0.0.1:${ownPort}`;
  return {
    url: url.href,
    open,
    hold() {
      held = Promise.withResolvers();
    },
    letGo: () => held.resolve(),
    connections: () => connections,
    async shut() {
      const shutting = server;
      server = null;
      if (!shutting) return;
      const closed = once(shutting, 'close');
      shutting.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
