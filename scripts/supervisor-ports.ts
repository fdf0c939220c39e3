import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const tries = 30;

/** A port that is free at this moment. */
export async function freePort(host: string): Promise<number> {
  const result = await tryListen(host, 0);
  if (typeof result === 'number') return result;
  throw new Error(`Cannot listen on HOST ${host}: ${result.message}`);
}

/** Waits up to three seconds for the port: an API whose supervisor was killed may still be closing it. */
export async function expectFree(host: string, port: number): Promise<void> {
  for (let turn = 1; ; turn++) {
    const result = await tryListen(host, port);
    if (typeof result === 'number') return;
    if (result.code === 'EADDRINUSE' && turn < tries) {
      await pause(100);
      continue;
    }
    throw new Error(`Cannot use port ${port} of ${host}: ${reasonOf(result)}`);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program uses it. End that program, or choose another port with PORT.';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address. Choose another one with HOST.';
  return `${message}. Choose another port with PORT.`;
}

/** The port, or the error. */
async function tryListen(host: string, port: number): Promise<number | NodeJS.ErrnoException> {
  const { promise, resolve } = Promise.withResolvers<number | NodeJS.ErrnoException>();
  const server = createServer();
  server.once('error', resolve);
  server.listen({ host, port, exclusive: true }, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
  });
  return promise;
}
