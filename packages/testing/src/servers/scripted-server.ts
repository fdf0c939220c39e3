import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export interface ScriptedServer {
  host: '127.0.0.1';
  port: number;
  stop(): Promise<void>;
}

/** Starts a line-based server with a greeting and an answer to each line; null sends nothing. */
export async function startScriptedServer(
  greeting: string,
  answer: (line: string) => string | null,
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.write(greeting);
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
        const reply = answer(line);
        if (reply !== null && !socket.destroyed) socket.write(reply);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export const imapGreeting = '* OK [CAPABILITY IMAP4rev1] hello\r\n';

/** The tag of a line that an IMAP client sent. */
export const tagOf = (line: string): string => line.split(' ')[0] ?? '';
