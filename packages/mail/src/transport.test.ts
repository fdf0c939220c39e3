import { describe, expect, it } from 'vitest';
import { failureOf, testMail, testServer, testTcpServer, testTransport } from '@portal/testing/servers/mail-exchange';

describe('pooled connections', () => {
  it('carry many mails and never exceed their limit', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port }, { maxConnections: 3 });
    await Promise.all(Array.from({ length: 30 }, (_, index) => transport.send(testMail({ subject: `Mail ${index}` }))));
    expect(new Set(server.messages.map(({ subject }) => subject)).size).toBe(30);
    expect(server.connectionCount()).toBe(3);
  });

  it('are replaced if the server drops them between two mails', async () => {
    const first = await testServer();
    const transport = testTransport({ port: first.port });
    await transport.send(testMail());
    await first.stop();
    const second = await testServer({ port: first.port });
    await transport.send(testMail());
    expect(second.messages).toHaveLength(1);
  });

  it('serve the next recipient after one was refused', async () => {
    const server = await testServer({
      failures: (step) =>
        step.at === 'recipient' && step.address.startsWith('gone') ? { code: 550, text: 'No such user' } : undefined,
    });
    const transport = testTransport({ port: server.port }, { maxConnections: 1 });
    await failureOf(transport.send(testMail({ to: { address: 'gone@example.com' } })));
    await transport.send(testMail());
    expect(server.messages).toHaveLength(1);
    expect(server.connectionCount()).toBe(1);
  });

  it('take no more mail once closed', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port });
    transport.close();
    expect(await failureOf(transport.send(testMail()))).toMatchObject({ failure: 'connect', retry: true });
    expect(server.connectionCount()).toBe(0);
  });
});

describe('a cancelled send', () => {
  it('rejects with the reason of the signal and leaves the transport usable', async () => {
    let isFirst = true;
    const controller = new AbortController();
    const server = await testServer({
      failures: (step) => {
        if (step.at === 'transmission' && isFirst) {
          isFirst = false;
          controller.abort(new Error('worker stops'));
          return 'silence';
        }
        return undefined;
      },
    });
    const transport = testTransport({ port: server.port }, { maxConnections: 1 });
    await expect(transport.send(testMail(), { signal: controller.signal })).rejects.toThrow('worker stops');
    await transport.send(testMail());
    expect(server.messages).toHaveLength(1);
  });

  it('does not connect if the signal is already aborted', async () => {
    const server = await testServer();
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(testTransport({ port: server.port }).send(testMail(), { signal })).rejects.toThrow('too late');
    await expect(testTransport({ port: server.port }).verify({ signal })).rejects.toThrow('too late');
    expect(server.connectionCount()).toBe(0);
  });
});

describe('verify', () => {
  const auth = { username: 'portal', password: 'right' };

  it('signs in and sends nothing', async () => {
    const server = await testServer({ tls: 'starttls', auth });
    await testTransport({ port: server.port, security: 'starttls', ...auth }).verify();
    expect(server.messages).toHaveLength(0);
  });

  it('reports the same failure classes as a send', async () => {
    const server = await testServer({ tls: 'starttls', auth });
    const { port } = server;
    expect(
      await failureOf(testTransport({ port, security: 'starttls', ...auth, password: 'wrong' }).verify()),
    ).toMatchObject({ failure: 'auth' });
    expect(
      await failureOf(testTransport({ port, security: 'starttls', ...auth, verifyTls: true }).verify()),
    ).toMatchObject({ failure: 'certificate' });
    // Another server may take the port of a stopped server at once.
    expect(await failureOf(testTransport({ port: 1 }).verify())).toMatchObject({ failure: 'connect' });
  });

  it('gives up on a server that drops the connection before it greets', async () => {
    const port = await testTcpServer((socket) => socket.destroy());
    expect(await failureOf(testTransport({ port }).verify())).toMatchObject({ failure: 'connect' });
    expect(await failureOf(testTransport({ port }).send(testMail()))).toMatchObject({ failure: 'connect' });
  });

  it('stops when its signal is aborted', async () => {
    const controller = new AbortController();
    const port = await testTcpServer(() => controller.abort(new Error('enough')));
    await expect(testTransport({ port }).verify({ signal: controller.signal })).rejects.toThrow('enough');
  });
});
