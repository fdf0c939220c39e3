import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const returned = new Set<number>();

/** A port of 127.0.0.1 that is free at this moment and that this function has not returned before. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  // The system may choose a port again that was closed a moment ago
  if (returned.has(port)) return freePort();
  returned.add(port);
  return port;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Waits until the process accepts connections; false if it ends before that, or after 20 s. */
export const isAccepting = (server: ChildProcess, port: number): Promise<boolean> =>
  isReady(server, () => accepts(port));

/** Waits until the process is ready; false if it ends before that, or after a thousand checks. */
export async function isReady(server: ChildProcess, check: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    if (server.exitCode !== null || server.signalCode !== null) return false;
    if (await check()) return true;
    await pause(20);
  }
  return false;
}
