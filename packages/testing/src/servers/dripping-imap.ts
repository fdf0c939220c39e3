import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface DrippingImap {
  host: '127.0.0.1';
  port: number;
  /** Connections that are open now, and the most there have been at once. */
  open(): number;
  maxOpen(): number;
  stop(): Promise<void>;
}

/** A mail server that greets, then says every so often that all is well, and never answers what it is asked. */
export async function startDrippingImap({ everyMs = 2_000 } = {}): Promise<DrippingImap> {
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
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
    maxOpen: () => most,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
