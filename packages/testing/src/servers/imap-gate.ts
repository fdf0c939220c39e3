import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A point of a conversation: the greeting, or a line of the client that matches. */
export type ImapStep = 'greeting' | RegExp;

export interface ImapGate {
  host: '127.0.0.1';
  port: number;
  /**
   * From this step on the client receives nothing (`stall`), its connection breaks (`drop`), or it receives one byte per 50 ms (`trickle`).
   * The first `afterBytes` of the answer still arrive. Null removes the fault.
   */
  setFault(fault: { kind: 'stall' | 'drop' | 'trickle'; at: ImapStep; afterBytes?: number } | null): void;
  /** Called with each line of the client; the gate passes the line on after it resolves. */
  onCommand: ((line: string) => void | Promise<void>) | null;
  /** The lines that clients have sent since the last call. */
  takeCommands(): string[];
  connections(): number;
  stop(): Promise<void>;
}

/** Opens a proxy to an unencrypted IMAP server that can fail at any step. */
export async function openImapGate(target: { host: string; port: number }): Promise<ImapGate> {
  const sockets = new Set<Socket>();
  let fault: Parameters<ImapGate['setFault']>[0] = null;
  let commands: string[] = [];
  let connections = 0;

  const server = createServer((client) => {
    connections += 1;
    const inside = connect(target.port, target.host);
    /** Bytes that the client still receives after the fault; null before the fault. */
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
