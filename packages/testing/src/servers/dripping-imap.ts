import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface DrippingImap {
  host: '127.0.0.1';
  port: number;
  /** Connections that are open now. */
  open(): number;
  /** Maximum number of concurrent connections so far. */
  maxOpen(): number;
  stop(): Promise<void>;
}

/** Starts a mail server that greets, then sends an untagged OK at intervals, and never answers a command. */
export async function startDrippingImap({ everyMs = 2_000 } = {}): Promise<DrippingImap> {
  const sockets = new Set<Socket>();
  let maxOpen = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    maxOpen = Math.max(maxOpen, sockets.size);
    const drip = () => void socket.write('* OK still here\r\n');
    const dripping = setInterval(drip, everyMs);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(dripping);
      sockets.delete(socket);
    });
    socket.resume();
    drip();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    maxOpen: () => maxOpen,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
