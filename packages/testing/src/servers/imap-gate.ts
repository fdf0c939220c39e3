import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Where in a conversation something happens: at the greeting, or when the client sends a line that this fits. */
export type ImapStep = 'greeting' | RegExp;

export interface ImapGate {
  host: '127.0.0.1';
  port: number;
  /**
   * From this step on the client hears nothing more, or its connection breaks, or it hears one byte in 50 ms. `afterBytes` of the answer
   * still come. Null for nothing.
   */
  setFault(fault: { kind: 'stall' | 'drop' | 'trickle'; at: ImapStep; afterBytes?: number } | null): void;
  /** Told each line the client sends, before it is passed on, which waits for what comes of it. */
  onCommand: ((line: string) => void | Promise<void>) | null;
  /** What clients have sent since the last call. */
  takeCommands(): string[];
  connections(): number;
  stop(): Promise<void>;
}

/** A way to an unencrypted IMAP server that can be made to fail at any step. */
export async function openImapGate(target: { host: string; port: number }): Promise<ImapGate> {
  const sockets = new Set<Socket>();
  let fault: Parameters<ImapGate['setFault']>[0] = null;
  let commands: string[] = [];
  let connections = 0;

  const server = createServer((client) => {
    connections += 1;
    const inside = connect(target.port, target.host);
    /** Bytes the client still hears once the fault has come. */
    let left = fault?.at === 'greeting' ? (fault.afterBytes ?? 0) : null;
    for (const socket of [client, inside]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        inside.destroy();
      });
    }
    let trickling = Promise.resolve();
    const trickle = (bytes: Buffer) => {
      trickling = trickling.then(async () => {
        for (const byte of bytes) {
          if (client.destroyed) return;
          client.write(Buffer.of(byte));
          await pause(50);
        }
      });
    };
    let passing = Promise.resolve();
    client.on('data', (chunk: Buffer) => {
      passing = passing.then(async () => {
        for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
          commands.push(line);
          await gate.onCommand?.(line);
          if (fault?.at instanceof RegExp && fault.at.test(line)) left ??= fault.afterBytes ?? 0;
        }
        if (!inside.destroyed) inside.write(chunk);
      });
    });
    inside.on('data', (chunk: Buffer) => {
      if (left === null) {
        client.write(chunk);
        return;
      }
      client.write(chunk.subarray(0, left));
      if (fault?.kind === 'trickle') trickle(chunk.subarray(left));
      left = Math.max(0, left - chunk.length);
      if (left === 0 && fault?.kind === 'drop') client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const gate: ImapGate = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    setFault(next) {
      fault = next;
    },
    onCommand: null,
    takeCommands() {
      const taken = commands;
      commands = [];
      return taken;
    },
    connections: () => connections,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return gate;
}
