import { expect, it } from 'vitest';
import { messageIdFor } from '@portal/mail/message-id';
import { openTransport } from '@portal/mail/transport';
import { plainDial } from './plain-dial.ts';
import { startSmtpServer } from './smtp-server.ts';

const send = async (port: number, subject: string): Promise<void> => {
  const transport = openTransport({
    host: '127.0.0.1',
    port,
    security: 'none',
    fromAddress: 'a@example.com',
    verifyTls: true,
    dial: plainDial,
  });
  try {
    const messageId = messageIdFor(subject, 'example.com');
    await transport.send({ to: { address: 'b@example.com' }, subject, text: 'x', messageId });
  } finally {
    transport.close();
  }
};

it('waits for a mail that has arrived or has yet to arrive', async () => {
  const seen: string[] = [];
  const server = await startSmtpServer({ onMessage: ({ subject }) => void seen.push(subject) });
  await send(server.port, 'one');
  const later = server.waitFor(({ subject }) => subject === 'two');
  await send(server.port, 'two');
  expect((await server.waitFor(({ subject }) => subject === 'one')).envelopeTo).toEqual(['b@example.com']);
  expect((await later).envelopeFrom).toBe('a@example.com');
  expect(seen).toEqual(['one', 'two']);
  await server.stop();
});

it('names the mails that arrived instead', async () => {
  const server = await startSmtpServer();
  await send(server.port, 'one');
  await expect(server.waitFor(() => false, 20)).rejects.toThrow(
    'No such mail within 20 ms. Arrived: one → b@example.com',
  );
  await server.stop();
});
