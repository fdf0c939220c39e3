import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const given = new Set<number>();

/** A port of 127.0.0.1 that nobody listens on, at this moment, and that nobody else was given here. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  // The system may choose a port again that was let go of a moment ago
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Waits until the process takes connections; false when it ends before, or takes none for 20 s. */
export const isAccepting = (server: ChildProcess, port: number): Promise<boolean> =>
  comesUp(server, () => accepts(port));

/** Waits until the process is as it should be; false when it ends before, or asking a thousand times did not help. */
export async function comesUp(server: ChildProcess, isUp: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    if (server.exitCode !== null || server.signalCode !== null) return false;
    if (await isUp()) return true;
    await pause(20);
  }
  return false;
}
