import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  closedPort,
  failureOf,
  testMail,
  testServer,
  testTcpServer,
  testTransport,
  trust,
} from '@portal/testing/servers/mail-exchange';
import type { SmtpStep, SmtpTrouble } from '@portal/testing/servers/smtp-server';
import type { MailFailureClass } from './mail-error.ts';

const failing = (failure: MailFailureClass, retry: boolean, message: RegExp) => ({
  failure,
  retry,
  kind: 'upstream',
  code: 'MAIL_DELIVERY_FAILED',
  message: expect.stringMatching(message),
});

const troubleAt = (at: SmtpStep['at'], trouble: SmtpTrouble) => (step: SmtpStep) =>
  step.at === at ? trouble : undefined;

describe('a failure', () => {
  it('is connect when nothing listens', async () => {
    const port = await closedPort();
    const error = await failureOf(testTransport({ port }).send(testMail()));
    expect(error).toMatchObject(
      failing('connect', true, /^The mail server 127\.0\.0\.1:\d+ accepts no connections; check host and port\.$/),
    );
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is connect when the host has no address', async () => {
    const transport = testTransport({ host: 'mail.invalid', port: 25 }, { connectTimeoutMs: 2_000 });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('connect', true, /mail\.invalid:25 could not be found; check the spelling/),
    );
  });

  it('is connect when the connection breaks in the middle of the message', async () => {
    const server = await testServer({ failures: troubleAt('transmission', 'drop') });
    const large = testMail({ text: 'Zeile\n'.repeat(50_000) });
    expect(await failureOf(testTransport({ port: server.port }).send(large))).toMatchObject(
      failing('connect', true, /broke off the connection\.$/),
    );
    expect(server.messages).toHaveLength(0);
    expect(server.connectionCount()).toBe(1);
  });

  it('is connect when the connection breaks before the server confirms; the Message-ID identifies a repeat', async () => {
    let attempts = 0;
    const server = await testServer({
      failures: (step) => (step.at === 'message' && ++attempts === 1 ? 'drop' : undefined),
    });
    const transport = testTransport({ port: server.port });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('connect', true, /broke off the connection\.$/),
    );
    await transport.send(testMail());
    expect(server.messages.map(({ messageId }) => messageId)).toEqual([testMail().messageId, testMail().messageId]);
  });

  it('is timeout when the server never greets', async () => {
    const server = await testServer({ failures: troubleAt('greeting', 'silence') });
    const transport = testTransport({ port: server.port }, { greetingTimeoutMs: 200 });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('timeout', true, /did not answer in time\.$/),
    );
  });

  it('is timeout when the server falls silent later', async () => {
    const server = await testServer({ failures: troubleAt('message', 'silence') });
    const transport = testTransport({ port: server.port }, { socketTimeoutMs: 300 });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('timeout', true, /did not answer in time\.$/),
    );
  });

  it('is timeout when the server trickles an answer that never ends', async () => {
    const port = await testTcpServer((socket) => {
      socket.write('220 hello\r\n');
      const drip = setInterval(() => socket.write('250-still here\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const transport = testTransport({ port }, { overallTimeoutMs: 400 });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('timeout', true, /took longer than 0\.4 seconds/),
    );
    expect(await failureOf(transport.verify())).toMatchObject(
      failing('timeout', true, /took longer than 0\.4 seconds/),
    );
  });

  it('is protocol when the answer is endless', async () => {
    const port = await testTcpServer((socket) => socket.write(`220-${'x'.repeat(100_000)}`));
    expect(await failureOf(testTransport({ port }).send(testMail()))).toMatchObject(
      failing('protocol', false, /does not answer like a mail server/),
    );
  });

  it.each(['starttls', 'tls'] as const)(
    'is certificate when the server has a self-signed one over %s',
    async (security) => {
      const server = await testServer({ tls: security });
      const transport = testTransport({ port: server.port, security, verifyTls: true });
      expect(await failureOf(transport.send(testMail()))).toMatchObject(
        failing('certificate', false, /a certificate that is self-signed\.$/),
      );
    },
  );

  it('is certificate when it was issued for another name', async () => {
    trust('elsewhere');
    const server = await testServer({ tls: 'starttls', certificate: 'elsewhere' });
    const transport = testTransport({ port: server.port, security: 'starttls', verifyTls: true });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('certificate', false, /was issued for another name\.$/),
    );
  });

  it('is certificate when it has expired', async () => {
    trust('expired');
    const server = await testServer({ tls: 'tls', certificate: 'expired' });
    const transport = testTransport({ port: server.port, security: 'tls', verifyTls: true });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(failing('certificate', false, /has expired\.$/));
  });

  it('is auth when the password is wrong, and names no secret', async () => {
    const server = await testServer({ tls: 'starttls', auth: { username: 'portal', password: 'right' } });
    const password = 'wrong-secret-4711';
    const transport = testTransport({ port: server.port, security: 'starttls', username: 'portal', password });
    const error = await failureOf(transport.send(testMail()));
    expect(error).toMatchObject(
      failing(
        'auth',
        false,
        /did not accept the user name or password\. The server answered: "535 Authentication failed"$/,
      ),
    );
    expect(inspect(error, { depth: 9 })).not.toContain(password);
  });

  it('is auth when the server wants a sign-in and none is set', async () => {
    const server = await testServer({ auth: { username: 'portal', password: 'right' } });
    expect(await failureOf(testTransport({ port: server.port }).send(testMail()))).toMatchObject(
      failing('auth', false, /requires a user name and password/),
    );
  });

  it('is auth when a user name is set and the server offers no sign-in', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port, username: 'portal', password: 'x' });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('auth', false, /does not offer signing in this way/),
    );
    expect(server.messages).toHaveLength(0);
  });

  it('is auth when the server does not allow signing in without encryption', async () => {
    const auth = { username: 'portal', password: 'right' };
    const server = await testServer({ tls: 'starttls', auth });
    const transport = testTransport({ port: server.port, security: 'none', ...auth });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('auth', false, /without encryption; choose STARTTLS or TLS/),
    );
  });

  it('is auth when the password is missing', async () => {
    const server = await testServer({ auth: { username: 'portal', password: 'right' } });
    const transport = testTransport({ port: server.port, username: 'portal', password: null });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(failing('auth', false, /needs a password/));
  });

  it('is protocol when STARTTLS is required but not offered, and nothing is sent in clear', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port, security: 'starttls' });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('protocol', false, /does not offer STARTTLS; choose TLS or another port/),
    );
    expect(server.messages).toHaveLength(0);
  });

  it('is protocol when TLS meets a server that starts in clear', async () => {
    const server = await testServer({ tls: 'starttls' });
    const transport = testTransport({ port: server.port, security: 'tls' });
    expect(await failureOf(transport.send(testMail()))).toMatchObject(
      failing('protocol', false, /could not agree on encryption .* try STARTTLS/),
    );
  });

  it('is protocol when a web server answers', async () => {
    const port = await testTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await failureOf(testTransport({ port }).send(testMail()))).toMatchObject(
      failing('protocol', false, /does not answer like a mail server/),
    );
  });

  it.each([
    [
      'recipient',
      'recipient',
      false,
      { code: 550, text: 'No such user' },
      /mail for this recipient.*"550 No such user"/,
    ],
    [
      'recipient',
      'temporary',
      true,
      { code: 451, text: 'Greylisted' },
      /cannot take the mail right now.*451 Greylisted/,
    ],
    ['recipient', 'temporary', true, { code: 421, text: 'Too busy' }, /cannot take the mail right now/],
    ['sender', 'rejected', false, { code: 553, text: 'Not yours' }, /does not accept this sender address/],
    ['greeting', 'rejected', false, { code: 554, text: 'Blocked' }, /refuses to talk to this system.*554 Blocked/],
    ['greeting', 'temporary', true, { code: 421, text: 'Later' }, /cannot take the mail right now/],
    ['message', 'rejected', false, { code: 554, text: 'Spam' }, /refused the message.*554 Spam/],
    ['message', 'temporary', true, { code: 452, text: 'Disk full' }, /cannot take the mail right now/],
  ] as const)('at the %s is %s (retry: %s) for %o', async (at, failure, retry, trouble, message) => {
    const server = await testServer({ failures: troubleAt(at, trouble) });
    expect(await failureOf(testTransport({ port: server.port }).send(testMail()))).toMatchObject(
      failing(failure, retry, message),
    );
    expect(server.messages).toHaveLength(0);
  });

  it('ends when a greylisted mail is sent again', async () => {
    let attempts = 0;
    const server = await testServer({
      failures: (step) => (step.at === 'recipient' && ++attempts === 1 ? { code: 451, text: 'Greylisted' } : undefined),
    });
    const transport = testTransport({ port: server.port });
    await failureOf(transport.send(testMail()));
    await transport.send(testMail());
    expect(server.messages).toHaveLength(1);
  });

  it('does not quote a server that repeats the password', async () => {
    const server = await testServer({ failures: troubleAt('sender', { code: 550, text: 'hunter2 is not welcome' }) });
    const port = server.port;
    const error = await failureOf(testTransport({ port, password: 'hunter2' }).send(testMail()));
    expect(error.message).toBe(`The mail server 127.0.0.1:${port} does not accept this sender address.`);
  });
});
