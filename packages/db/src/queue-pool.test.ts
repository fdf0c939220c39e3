import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openQueuePool } from './queue-pool.ts';

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const authenticated = message('R', Buffer.alloc(4));
const ready = message('Z', Buffer.from('I'));
const shuttingDown = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

it('survives a server that ends a connection at the moment it opens', async () => {
  // Messages that a real server sends one by one may arrive in one read.
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, shuttingDown])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const lost: Error[] = [];
  const pool = openQueuePool({
    url: `postgres://portal@127.0.0.1:${(server.address() as AddressInfo).port}/portal`,
    max: 1,
    applicationName: 'test',
    onConnectionLost: (error) => void lost.push(error),
  });
  // The question whether the server is a standby meets the end of the connection.
  await expect(pool.connect()).rejects.toThrow('terminating connection');
  await pool.end();
});
