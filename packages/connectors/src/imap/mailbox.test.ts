import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '@portal/domain/secret';
import { startDovecot, type TestDovecot } from '@portal/testing/servers/dovecot';
import { type ImapGate, openImapGate } from '@portal/testing/servers/imap-gate';
import { imapGreeting, startScriptedServer, tagOf } from '@portal/testing/servers/scripted-server';
import { caCertificatePem, otherCaCertificatePem, type ServerCertificate } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { ImapFailure } from './imap-failure.ts';
import { type ImapServer, type Mailbox, type MailboxOptions, openMailbox } from './mailbox.ts';

const never = new AbortController().signal;
const MiB = 1024 * 1024;

const mail = (n: number, more = '') =>
  `From: Ada <ada@example.org>\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_${n}?=\r\nMessage-ID: <${n}@example.org>\r\nDate: Fri, 20 Nov 2026 10:00:00 +0100\r\n\r\nText ${n}${more}\r\n`;

/** The failure of an open, and how long it took. */
async function failureOf(opening: Promise<unknown>): Promise<{ kind: string; message: string; ms: number }> {
  const startedAt = performance.now();
  try {
    await opening;
  } catch (error) {
    if (error instanceof ImapFailure)
      return { kind: error.kind, message: error.message, ms: performance.now() - startedAt };
    throw error;
  }
  throw new Error('nothing failed');
}

const serverAt = (host: string, port: number, more: Partial<ImapServer> = {}): ImapServer => ({
  host,
  port,
  security: 'none',
  username: 'ada',
  password: new Secret('mailbox-secret'),
  caCertificatePem: null,
  policy: { reach: 'private', allowHosts: [] },
  ...more,
});

const opened = (server: ImapServer, more: Partial<MailboxOptions> = {}): Promise<Mailbox> =>
  openMailbox(server, { folder: 'INBOX', isWritable: false, signal: never, ...more });

describe.skipIf(serviceBinary('dovecot') === null)('with Dovecot', () => {
  let dovecot: TestDovecot;
  beforeAll(async () => {
    dovecot = await startDovecot();
    for (const n of [1, 2, 3]) await dovecot.deliver('ada', mail(n));
    await dovecot.makeFolder('ada', 'Grüße');
  });
  afterAll(() => dovecot.stop());

  it.each(['none', 'starttls', 'tls'] as const)(
    'reads a folder and leaves no trace in it, security %s',
    async (security) => {
      const port = security === 'tls' ? dovecot.tlsPort : dovecot.port;
      const before = await dovecot.mails('ada');
      {
        using mailbox = await opened(serverAt('localhost', port, { security, caCertificatePem }));
        const uids = await mailbox.uidsFrom(1);
        expect([uids, mailbox.uidNext]).toEqual([[1, 2, 3], 4]);
        expect(mailbox.uidValidity).toMatch(/^\d+$/);
        expect(await mailbox.uidsFrom(3)).toEqual([3]);
        // `*` alone would be the last mail.
        expect(await mailbox.uidsFrom(4)).toEqual([]);
        const [head] = await mailbox.heads([1, 99]);
        expect(head).toEqual({
          uid: 1,
          sizeBytes: mail(1).length,
          receivedAt: expect.any(Date),
          messageId: '<1@example.org>',
          date: new Date('2026-11-20T09:00:00Z'),
          from: 'ada@example.org',
          subject: 'Grüße 1',
        });
        expect((await mailbox.bytes(2, MiB))?.toString()).toBe(mail(2));
        expect(await mailbox.bytes(2, 10)).toHaveLength(11);
        expect(await mailbox.bytes(99, MiB)).toBeNull();
      }
      expect(await dovecot.mails('ada')).toEqual(before);
      expect(before.map(({ flags }) => flags)).toEqual(['recent', 'recent', 'recent']);
    },
  );

  it('resolves a host once and connects to that address', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return ['127.0.0.1'];
    };
    const server = serverAt('localhost', dovecot.tlsPort, { security: 'tls', caCertificatePem });
    using _ = await opened({ ...server, policy: { ...server.policy, resolve } });
    expect(asked).toBe(1);
  });

  it.each<[name: string, kind: string, server: () => ImapServer]>([
    ['a wrong password', 'unauthorized', () => serverAt('localhost', dovecot.port, { password: new Secret('wrong') })],
    ['no password', 'unauthorized', () => serverAt('localhost', dovecot.port, { password: null })],
    [
      'an unknown authority',
      'certificate',
      () => serverAt('localhost', dovecot.tlsPort, { security: 'tls', caCertificatePem: otherCaCertificatePem }),
    ],
    [
      'an unknown authority, after STARTTLS',
      'certificate',
      () => serverAt('localhost', dovecot.port, { security: 'starttls' }),
    ],
    [
      'TLS on a plain port',
      'protocol',
      () => serverAt('localhost', dovecot.port, { security: 'tls', caCertificatePem }),
    ],
    ['a closed port', 'unreachable', () => serverAt('127.0.0.1', 1)],
    [
      'an unknown host name',
      'unreachable',
      () => serverAt('mail.invalid', 143, { policy: { reach: 'private', allowHosts: [], resolve: async () => [] } }),
    ],
    ['a metadata service', 'unreachable', () => serverAt('169.254.169.254', 143)],
    [
      'this machine, for a plain user',
      'unreachable',
      () => serverAt('127.0.0.1', dovecot.port, { policy: { reach: 'public', allowHosts: [] } }),
    ],
  ])('%s fails as %s', async (_, kind, server) => {
    const failure = await failureOf(opened(server()));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(/^The mail server \S+:\d+ .*\.$/);
    expect(failure.message).not.toContain('secret');
  });

  it('a missing folder fails as folderMissing', async () => {
    expect((await failureOf(opened(serverAt('localhost', dovecot.port), { folder: 'Nirgends' }))).kind).toBe(
      'folderMissing',
    );
    using mailbox = await opened(serverAt('localhost', dovecot.port));
    expect([await mailbox.hasFolder('Grüße'), await mailbox.hasFolder('Nirgends')]).toEqual([true, false]);
  });

  it('reads the beginning of a header of megabytes', async () => {
    const long = `Subject: first\r\nTo: ${'someone@example.org, '.repeat(250_000)}\r\nMessage-ID: <late@example.org>\r\n\r\nx\r\n`;
    for (const one of [long, mail(2)]) await dovecot.deliver('long', one);
    using mailbox = await opened(serverAt('localhost', dovecot.port, { username: 'long' }));
    const heads = await mailbox.heads([1, 2]);
    expect(heads.map(({ subject, messageId }) => [subject, messageId])).toEqual([
      ['first', null],
      ['Grüße 2', '<2@example.org>'],
    ]);
  });

  it('moves mails in one step if the server can, and counts missing mails as moved', async () => {
    for (const n of [1, 2, 3]) await dovecot.deliver('moving', mail(n));
    await dovecot.makeFolder('moving', 'Ablage.Grüße');
    const server = serverAt('localhost', dovecot.port, { username: 'moving' });
    using mailbox = await opened(server, { isWritable: true });
    await mailbox.move([1, 3], 'Ablage.Grüße');
    await mailbox.move([1, 3], 'Ablage.Grüße');
    expect(await mailbox.uidsFrom(1)).toEqual([2]);
    expect((await failureOf(mailbox.move([2], 'Nirgends'))).kind).toBe('folderMissing');
    expect(await mailbox.uidsFrom(1)).toEqual([2]);
  });

  describe('through a gate', () => {
    let gate: ImapGate;
    beforeAll(async () => {
      gate = await openImapGate(dovecot);
    });
    afterEach(() => gate.setFault(null));
    afterAll(() => gate.stop());
    const timeouts = { connectionTimeout: 1_000, greetingTimeout: 400, socketTimeout: 400 };

    const steps: [name: string, at: Parameters<ImapGate['setFault']>[0] & object][] = [
      ['the greeting', { kind: 'stall', at: 'greeting' }],
      ['half a greeting', { kind: 'stall', at: 'greeting', afterBytes: 10 }],
      ['CAPABILITY', { kind: 'stall', at: /CAPABILITY|AUTHENTICATE|LOGIN/ }],
      ['the sign-in', { kind: 'stall', at: /AUTHENTICATE|LOGIN/ }],
      ['NAMESPACE', { kind: 'stall', at: /NAMESPACE/ }],
      ['EXAMINE', { kind: 'stall', at: /EXAMINE/ }],
      ['half of the answer to EXAMINE', { kind: 'stall', at: /EXAMINE/, afterBytes: 60 }],
      ['SEARCH', { kind: 'stall', at: /SEARCH/ }],
      ['FETCH', { kind: 'stall', at: /PEEK\[HEADER\]/ }],
      ['half of a mail', { kind: 'stall', at: /PEEK\[\]/, afterBytes: 50 }],
    ];
    const readAll = async (signal = never, limits = timeouts) => {
      using mailbox = await opened(serverAt(gate.host, gate.port), { timeouts: limits, signal });
      await mailbox.heads(await mailbox.uidsFrom(1));
      await mailbox.bytes(1, MiB);
    };

    it.each(steps)('a server that stalls at %s times out', async (_, fault) => {
      gate.setFault(fault);
      const { kind, ms } = await failureOf(readAll());
      expect(kind).toBe('timeout');
      expect(ms).toBeLessThan(4_000);
    });

    it.each(steps)('a server that disconnects at %s is unreachable', async (_, fault) => {
      gate.setFault({ ...fault, kind: 'drop' });
      expect((await failureOf(readAll())).kind).toBe('unreachable');
    });

    it('any wait ends at once when the signal is aborted, with its reason', async () => {
      for (const [, fault] of steps) {
        gate.setFault(fault);
        const given = new Error('enough');
        const controller = new AbortController();
        const startedAt = performance.now();
        setTimeout(() => controller.abort(given), 150);
        const longTimeouts = { connectionTimeout: 20_000, greetingTimeout: 20_000, socketTimeout: 20_000 };
        await expect(readAll(controller.signal, longTimeouts)).rejects.toBe(given);
        expect(performance.now() - startedAt).toBeLessThan(10_000);
      }
    });

    it('is read without a command that changes anything', async () => {
      gate.takeCommands();
      await readAll();
      const commands = gate.takeCommands().join('\n');
      expect(commands).toMatch(/EXAMINE/);
      expect(commands).toMatch(/BODY\.PEEK/);
      expect(commands).not.toMatch(/SELECT|STORE|MOVE|COPY|EXPUNGE|CLOSE|APPEND|BODY\[/);
    });
  });
});

describe.skipIf(serviceBinary('dovecot') === null)('without MOVE', () => {
  it('mails are copied, marked and deleted by their UIDs', async () => {
    const dovecot = await startDovecot({ without: ['MOVE'] });
    onTestFinished(() => dovecot.stop());
    for (const n of [1, 2, 3]) await dovecot.deliver('ada', mail(n));
    await dovecot.makeFolder('ada', 'Ablage');
    const gate = await openImapGate(dovecot);
    onTestFinished(() => gate.stop());
    using mailbox = await opened(serverAt(gate.host, gate.port), { isWritable: true });
    // The connection breaks after the mail was copied and marked. It is not copied again.
    gate.setFault({ kind: 'drop', at: /UID EXPUNGE/ });
    expect((await failureOf(mailbox.move([1], 'Ablage'))).kind).toBe('unreachable');
    gate.setFault(null);
    using again = await opened(serverAt(gate.host, gate.port), { isWritable: true });
    await again.move([1, 3], 'Ablage');
    expect(await again.uidsFrom(1)).toEqual([2]);
    expect((await dovecot.mails('ada', 'Ablage')).map(({ bytes }) => bytes.toString())).toEqual([mail(1), mail(3)]);
  });

  it('and without UIDPLUS nothing is deleted', async () => {
    const dovecot = await startDovecot({ without: ['MOVE', 'UIDPLUS'] });
    onTestFinished(() => dovecot.stop());
    await dovecot.deliver('ada', mail(1));
    await dovecot.makeFolder('ada', 'Ablage');
    using mailbox = await opened(serverAt('localhost', dovecot.port), { isWritable: true });
    expect((await failureOf(mailbox.move([1], 'Ablage'))).kind).toBe('protocol');
    expect(await mailbox.uidsFrom(1)).toEqual([1]);
    expect(await dovecot.mails('ada', 'Ablage')).toEqual([]);
  });
});

describe.skipIf(serviceBinary('dovecot') === null)('a certificate', () => {
  it.each<ServerCertificate>(['elsewhere', 'expired'])(
    'that is %s is refused before any secret is sent',
    async (certificate) => {
      const dovecot = await startDovecot({ certificate });
      onTestFinished(() => dovecot.stop());
      for (const security of ['tls', 'starttls'] as const) {
        const port = security === 'tls' ? dovecot.tlsPort : dovecot.port;
        const failure = await failureOf(opened(serverAt('localhost', port, { security, caCertificatePem })));
        expect(failure.kind).toBe('certificate');
      }
    },
  );
});

async function scripted(greeting: string, answer: (line: string) => string | null): Promise<{ port: number }> {
  const server = await startScriptedServer(greeting, answer);
  onTestFinished(() => server.stop());
  return server;
}

describe('a hostile server', () => {
  it.each([
    ['that speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'protocol'],
    ['that speaks SMTP', '220 mail.example.org ESMTP\r\n', 'protocol'],
    ['that refuses', '* BYE too many\r\n', 'unreachable'],
  ])('%s fails at once', async (_, greeting, kind) => {
    const { port } = await scripted(greeting, () => null);
    const failure = await failureOf(opened(serverAt('127.0.0.1', port)));
    expect(failure.kind).toBe(kind);
    expect(failure.ms).toBeLessThan(5_000);
  });

  /** Accepts every sign-in, has `count` mails, and answers searches and EXAMINE as given. */
  const answering = (count: number, { examine = '', search }: { examine?: string; search: (line: string) => string }) =>
    scripted(imapGreeting, (line) => {
      const tag = tagOf(line);
      if (/ LOGIN /.test(line)) return `${tag} OK [CAPABILITY IMAP4rev1] in\r\n`;
      if (/EXAMINE/.test(line))
        return `${examine}* ${count} EXISTS\r\n* OK [UIDVALIDITY 7] .\r\n${tag} OK [READ-ONLY] .\r\n`;
      return /SEARCH/.test(line) ? `* SEARCH${search(line)}\r\n${tag} OK .\r\n` : `${tag} OK .\r\n`;
    });

  it.each([1, 4])('that answers EXAMINE with a line of %i MiB is cut off before it is parsed', async (size) => {
    const { port } = await answering(1, { examine: `* ${'x ('.repeat((size * MiB) / 3)}\r\n`, search: () => '' });
    const failure = await failureOf(opened(serverAt('127.0.0.1', port)));
    expect(failure.kind).toBe('protocol');
    expect(failure.ms).toBeLessThan(3_000);
  });

  it('that lists 14 MB of mails in a line is cut off before it is parsed', async () => {
    const { port } = await answering(1, { search: () => ' 4294967295'.repeat(1_300_000) });
    using mailbox = await opened(serverAt('127.0.0.1', port));
    expect((await failureOf(mailbox.uidsFrom(1))).kind).toBe('protocol');
  });

  it('that claims four billion mails is not asked for all of them', async () => {
    let searches = 0;
    const { port } = await answering(4_294_967_295, { search: () => ` ${(searches += 1)}` });
    using mailbox = await opened(serverAt('127.0.0.1', port));
    expect((await failureOf(mailbox.uidsFrom(1))).message).toContain('more mails than can be listed');
    expect(searches).toBe(400);
  });

  it('with 120,000 mails is listed in portions', async () => {
    const searches: string[] = [];
    const uidOf = (n: number) => 4_000_000_000 + n;
    const { port } = await answering(120_000, {
      search: (line) => {
        const [, from = 0, to = 0, least = 0] = (/SEARCH (\d+):(\d+) UID (\d+):\*/.exec(line) ?? []).map(Number);
        searches.push(line);
        const uids = Array.from({ length: to - from + 1 }, (_, n) => uidOf(from + n)).filter((uid) => uid >= least);
        return uids.map((uid) => ` ${uid}`).join('');
      },
    });
    using mailbox = await opened(serverAt('127.0.0.1', port));
    const uids = await mailbox.uidsFrom(uidOf(1));
    expect([uids.length, uids[0], uids.at(-1), searches.length]).toEqual([120_000, uidOf(1), uidOf(120_000), 24]);
    expect(await mailbox.uidsFrom(uidOf(119_998))).toEqual([119_998, 119_999, 120_000].map(uidOf));
    // The newest mails come first, and the search ends with the first portion without a match.
    expect(searches.length).toBe(26);
  });

  it('that never ends an answer is cut off', async () => {
    const filler = `* LIST (\\HasNoChildren) "." "${'x'.repeat(1_000)}"\r\n`.repeat(1_000);
    const { port } = await scripted(imapGreeting, (line) => {
      if (/LOGIN/.test(line)) return `${tagOf(line)} OK [CAPABILITY IMAP4rev1] in\r\n`;
      return /LIST/.test(line) ? filler.repeat(40) : null;
    });
    const before = process.memoryUsage().rss;
    const failure = await failureOf(opened(serverAt('127.0.0.1', port)));
    expect([failure.kind, failure.message]).toEqual([
      'protocol',
      expect.stringContaining('more data than was requested'),
    ]);
    expect((process.memoryUsage().rss - before) / MiB).toBeLessThan(250);
  });

  it('that does not offer STARTTLS gets no password', async () => {
    const heard: string[] = [];
    const { port } = await scripted(imapGreeting, (line) => {
      heard.push(line);
      return `${tagOf(line)} OK done\r\n`;
    });
    const failure = await failureOf(opened(serverAt('127.0.0.1', port, { security: 'starttls' })));
    expect(failure.kind).toBe('protocol');
    expect(heard.join('\n')).not.toMatch(/LOGIN|AUTHENTICATE|secret/);
  });

  it('that answers with unrequested mails or invalid numbers is ignored', async () => {
    const { port } = await scripted(imapGreeting, (line) => {
      const tag = tagOf(line);
      if (/ LOGIN /.test(line)) return `${tag} OK [CAPABILITY IMAP4rev1] in\r\n`;
      if (/EXAMINE/.test(line)) return `* 2 EXISTS\r\n* OK [UIDVALIDITY 7] .\r\n${tag} OK [READ-ONLY] .\r\n`;
      if (/SEARCH/.test(line)) return `* SEARCH 9 5 5 -1 99999999999 2\r\n${tag} OK .\r\n`;
      if (/FETCH/.test(line))
        return `* 1 FETCH (UID 1234 RFC822.SIZE 5)\r\n* 2 FETCH (UID 5 RFC822.SIZE 5)\r\n${tag} OK .\r\n`;
      return `${tag} OK .\r\n`;
    });
    using mailbox = await opened(serverAt('127.0.0.1', port));
    expect(mailbox.uidNext).toBeNull();
    expect(await mailbox.uidsFrom(3)).toEqual([5, 9]);
    expect((await mailbox.heads([5, 9])).map(({ uid }) => uid)).toEqual([5]);
  });
});
