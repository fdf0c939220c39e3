import { describe, expect, it } from 'vitest';
import { failureOf, testMail, testServer, testTransport, trust } from '@portal/testing/servers/mail-exchange';
import type { OutgoingMail } from './outgoing-mail.ts';
import type { SmtpSettings } from './smtp-settings.ts';

describe('a delivered mail', () => {
  it('carries its content and the headers of automatic mail', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port, fromName: 'Portal, Muster', replyTo: 'it@muster.example' });
    const delivery = await transport.send(
      testMail({ html: '<p>Schönen Tag!</p>', date: new Date('2026-11-21T09:12:00Z') }),
    );

    const [received] = server.messages;
    expect(delivery).toEqual({ messageId: testMail().messageId, response: expect.stringContaining('250') });
    expect(received).toMatchObject({
      envelopeFrom: 'portal@muster.example',
      envelopeTo: ['erika@example.com'],
      subject: 'Grüße',
      text: 'Schönen Tag!\n',
      html: '<p>Schönen Tag!</p>',
      messageId: testMail().messageId,
      isEncrypted: false,
      username: null,
    });
    expect(Object.fromEntries(received?.headers ?? [])).toMatchObject({
      from: '"Portal, Muster" <portal@muster.example>',
      to: 'Erika Beispiel <erika@example.com>',
      'reply-to': 'it@muster.example',
      date: 'Sat, 21 Nov 2026 09:12:00 +0000',
      'auto-submitted': 'auto-generated',
    });
    expect(received?.headers.has('x-mailer')).toBe(false);
  });

  it('carries complete extra headers and attachments byte for byte', async () => {
    const server = await testServer();
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    const unsubscribe = `<https://portal.example.com/unsubscribe/${'t'.repeat(400)}>`;
    await testTransport({ port: server.port }).send(
      testMail({
        headers: { 'List-Unsubscribe': unsubscribe, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
        attachments: [{ fileName: 'Bildschirm „Ü“ 1.png', contentType: 'image/png', bytes }],
      }),
    );
    const [received] = server.messages;
    expect(received?.headers.get('list-unsubscribe')).toBe(unsubscribe);
    expect(received?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(received?.attachments).toEqual([
      { fileName: 'Bildschirm „Ü“ 1.png', contentType: 'image/png', bytes: Buffer.from(bytes) },
    ]);
  });

  it('prefers its own reply address to the one in the settings', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port, replyTo: 'it@muster.example' });
    await transport.send(testMail({ replyTo: 'erika@example.com' }));
    expect(server.messages[0]?.headers.get('reply-to')).toBe('erika@example.com');
  });

  it.each([
    'Grüße, „Ärger“ and 🦊',
    '=?utf-8?B?QmNjOiBldmlsQGV4YW1wbGUuY29t?= and =?utf-8?Q?=0D=0ABcc:_x?=',
    `=?${'🦊'.repeat(120)}?=`,
    '<>, "x" (y) \\ ;:@',
  ])('shows text in a header and in the subject as it was typed: %s', async (text) => {
    const server = await testServer();
    await testTransport({ port: server.port }).send(testMail({ subject: text, headers: { 'X-Text': text } }));
    const [received] = server.messages;
    expect([received?.subject, received?.headers.get('x-text')]).toEqual([text, text]);
    expect(received?.raw.toString('latin1')).not.toMatch(/^Bcc:|[^\r]\n|[^\n]{999}/im);
    expect(received?.envelopeTo).toEqual(['erika@example.com']);
  });

  it.each([
    ['an emoji', '🦊 Erika'],
    ['quotes, commas and brackets', `"Dr." O'Brien, <evil@example.com>; (x) \\ @`],
    ['500 characters', 'Donaudampf '.repeat(46).trim()],
    ['500 characters beyond ASCII', 'ÄÖÜ🦊'.repeat(125)],
    ['right-to-left text', 'محمد \u202Eliamxe@live'],
    ['a group', 'Alle: a@example.com, b@example.com;'],
  ])('reaches one recipient only, whose name is %s', async (_, name) => {
    const server = await testServer();
    await testTransport({ port: server.port, fromName: name }).send(
      testMail({ to: { address: 'erika@example.com', name } }),
    );
    const [received] = server.messages;
    expect(received?.envelopeTo).toEqual(['erika@example.com']);
    const shown = received?.headers.get('to')?.replace(/ <erika@example\.com>$/, '');
    expect(shown?.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')).toBe(name);
    expect(received?.raw.toString('latin1')).not.toMatch(/[^\r]\n|[^\n]{999}/);
  });

  it.each(['starttls', 'tls'] as const)('goes encrypted and signed in over %s', async (security) => {
    const auth = { username: 'portal', password: 'pässwört' };
    const server = await testServer({ tls: security, auth });
    await testTransport({ port: server.port, security, ...auth }).send(testMail());
    expect(server.messages[0]).toMatchObject({ isEncrypted: true, username: 'portal' });
  });

  it('reaches an address with umlauts on either side', async () => {
    const server = await testServer();
    const transport = testTransport({ port: server.port, fromAddress: 'portal@müller.example' });
    await transport.send(testMail({ to: { address: 'erika@müller.example' } }));
    await transport.send(testMail({ to: { address: 'jürgen@müller.example' } }));
    expect(server.messages.map(({ envelopeTo }) => envelopeTo)).toEqual([
      ['erika@müller.example'],
      ['jürgen@müller.example'],
    ]);
  });

  it('goes to a server with a valid certificate', async () => {
    trust('localhost');
    const server = await testServer({ tls: 'starttls' });
    await testTransport({ port: server.port, security: 'starttls', verifyTls: true }).send(testMail());
    expect(server.messages[0]?.isEncrypted).toBe(true);
  });

  it('stays unencrypted when the settings say so', async () => {
    const server = await testServer({ tls: 'starttls' });
    await testTransport({ port: server.port, security: 'none' }).send(testMail());
    expect(server.messages[0]?.isEncrypted).toBe(false);
  });
});

describe('a message that could break out of its headers', () => {
  it.each<[string, Partial<OutgoingMail>, Partial<SmtpSettings>]>([
    ['subject', { subject: 'Hi\r\nBcc: x@example.com' }, {}],
    ['subject with a NUL', { subject: 'Hi\u0000' }, {}],
    ['recipient name', { to: { address: 'a@example.com', name: 'A\nBcc: x@example.com' } }, {}],
    ['recipient', { to: { address: 'a@example.com\r\nRCPT TO:<x@example.com>' } }, {}],
    ['recipient list', { to: { address: 'a@example.com,x@example.com' } }, {}],
    ['recipient in brackets', { to: { address: '<a@example.com>' } }, {}],
    ['recipient with a space', { to: { address: 'a b@example.com' } }, {}],
    ['recipient without domain', { to: { address: 'root' } }, {}],
    ['endless recipient', { to: { address: `a@${'b'.repeat(300)}.example` } }, {}],
    ['sender', {}, { fromAddress: 'portal@muster.example>\r\nDATA' }],
    ['sender name', {}, { fromName: 'Portal\r\nBcc: x@example.com' }],
    ['reply address', {}, { replyTo: 'it@muster.example\nBcc: x@example.com' }],
    ['extra header', { headers: { 'List-Id': 'x\r\nBcc: x@example.com' } }, {}],
    ['extra header with a tab', { headers: { 'List-Id': 'x\ty' } }, {}],
    ['extra header with another line end', { headers: { 'List-Id': 'x\u0085Bcc: x@example.com' } }, {}],
    ['extra header beyond a line', { headers: { 'List-Id': 'x'.repeat(901) } }, {}],
    ['reply address of its own', { replyTo: 'it@muster.example\nBcc: x@example.com' }, {}],
    ['list of reply addresses', { replyTo: 'it@muster.example, x@example.com' }, {}],
    ['reply header', { headers: { 'Reply-To': 'x@example.com' } }, {}],
    ['extra header name', { headers: { 'X: y\r\nBcc': 'x@example.com' } }, {}],
    ['header of ours', { headers: { bcc: 'x@example.com' } }, {}],
    ['content header', { headers: { 'Content-Type': 'text/html' } }, {}],
    ['Message-ID', { messageId: '<a@b>\r\nBcc: x@example.com' }, {}],
    ['attachment name', { attachments: [{ fileName: 'a\r\nb', contentType: 'a/b', bytes: new Uint8Array() }] }, {}],
    ['attachment type', { attachments: [{ fileName: 'a', contentType: 'a/b\r\nX: y', bytes: new Uint8Array() }] }, {}],
    ['size', { attachments: [{ fileName: 'a', contentType: 'a/b', bytes: new Uint8Array(11 * 1024 * 1024) }] }, {}],
  ])('is refused before anything is dialled: %s', async (_, change, settings) => {
    const server = await testServer();
    const error = await failureOf(testTransport({ port: server.port, ...settings }).send(testMail(change)));
    expect(error.message).toMatch(/^The mail was not sent, because/);
    expect(error.retry).toBe(false);
    expect(server.connectionCount()).toBe(0);
  });

  it('never reads a file or an address that text mentions', async () => {
    const server = await testServer();
    await testTransport({ port: server.port }).send(
      testMail({ html: '<img src="file:///etc/passwd">', text: 'file:///etc/passwd' }),
    );
    expect(server.messages[0]).toMatchObject({ text: 'file:///etc/passwd', html: '<img src="file:///etc/passwd">' });
  });
});
