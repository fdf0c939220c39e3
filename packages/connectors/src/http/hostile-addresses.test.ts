import { channel } from 'node:diagnostics_channel';
import { afterAll, describe, expect, it } from 'vitest';
import { startDnsServer } from '@portal/testing/servers/dns-server';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { fetchFeed } from '../tenders/fetch-feed.ts';
import { SourceFailure } from '../tenders/source-failure.ts';
import { dialUnder } from './checked-address.ts';
import { guardedFetch, type OutboundPolicy } from './guarded-fetch.ts';
import { OutboundError } from './outbound-error.ts';
import { resolveByDns } from './resolve-host.ts';

const canary = await startHttpServer((_request, response) => response.end('reached'));
const { port } = canary;

// Passes every check and leads nowhere: these addresses were never assigned (IANA, IPv6 Global Unicast Address Assignments).
const nowhere = '2d00::1';

const dns = await startDnsServer({
  'loopback.test': () => ({ addresses: ['127.0.0.1'] }),
  'xn--bcher-kva.test': () => ({ addresses: ['127.0.0.1'] }),
  '127.0.0.1.wildcard.test': () => ({ addresses: ['127.0.0.1'] }),
  'loopback6.test': () => ({ addresses: ['::1'] }),
  'mapped.test': () => ({ addresses: ['::ffff:127.0.0.1'] }),
  'nat64.test': () => ({ addresses: ['64:ff9b::127.0.0.1'] }),
  'zero.test': () => ({ addresses: ['0.0.0.0'] }),
  'behind.test': () => ({ addresses: ['8.8.8.8', '127.0.0.1'] }),
  'before.test': () => ({ addresses: ['127.0.0.1', '8.8.8.8'] }),
  'other-family.test': () => ({ addresses: [nowhere, '127.0.0.1'] }),
  'alias.test': () => ({ alias: 'loopback.test', addresses: ['127.0.0.1'] }),
  'rebinding.test': (asked) => ({ addresses: [asked === 1 ? nowhere : '::1'] }),
  'hop.test': () => ({ addresses: ['127.0.0.1'] }),
  'metadata.test': () => ({ addresses: ['169.254.169.254'] }),
  'xn--bcher-metadata-psb.test': () => ({ addresses: ['169.254.169.254'] }),
  '169.254.169.254.wildcard.test': () => ({ addresses: ['169.254.169.254'] }),
  'metadata-of-alibaba.test': () => ({ addresses: ['100.100.100.200'] }),
  'metadata-of-oracle.test': () => ({ addresses: ['192.0.0.192'] }),
  'metadata-of-azure.test': () => ({ addresses: ['168.63.129.16'] }),
  'metadata-of-aws.test': () => ({ addresses: ['fd00:ec2::254'] }),
  'metadata-of-google.test': () => ({ addresses: ['fd20:ce::254'] }),
  'link-local.test': () => ({ addresses: ['fe80::1'] }),
  'mapped-metadata.test': () => ({ addresses: ['::ffff:169.254.169.254'] }),
  'nat64-metadata.test': () => ({ addresses: ['64:ff9b::169.254.169.254'] }),
  'multicast.test': () => ({ addresses: ['224.0.0.1'] }),
  'metadata-behind.test': () => ({ addresses: ['10.0.0.1', '169.254.169.254'] }),
  'metadata-before.test': () => ({ addresses: ['169.254.169.254', '127.0.0.1'] }),
  'metadata-of-other-family.test': () => ({ addresses: ['127.0.0.1', 'fe80::1'] }),
  'metadata-alias.test': () => ({ alias: 'metadata.test', addresses: ['169.254.169.254'] }),
});

const hop = await startHttpServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://hop.test');
  const to = url.searchParams.get('to') ?? '';
  const rounds = Number(url.searchParams.get('rounds') ?? 0);
  // Node encodes headers as latin1: one character per UTF-8 byte.
  const bytes = Buffer.from(to).toString('latin1');
  response.writeHead(Number(url.searchParams.get('status') ?? 302), {
    location: rounds > 0 ? `/?${new URLSearchParams({ rounds: String(rounds - 1), to }).toString()}` : bytes,
    refresh: `0; url=${bytes}`,
    link: `<${bytes}>; rel=preload`,
  });
  response.end(`<meta http-equiv="refresh" content="0; url=${to}">`);
});

afterAll(() => Promise.all([canary.close(), hop.close(), dns.close()]));

const policy: OutboundPolicy = {
  reach: 'public',
  httpsOnly: false,
  allowHosts: [{ host: 'hop.test', port: hop.port }],
  resolve: resolveByDns([dns.server]),
};
const call = (url: string, timeoutMs = 20_000) => guardedFetch(url, policy, { maxBytes: 1_000, timeoutMs });
const hopTo = (to: string, more: Record<string, string> = {}) =>
  `http://hop.test:${hop.port}/?${new URLSearchParams({ to, ...more }).toString()}`;

/** Everything that URL parsers, resolvers and sockets accept as this machine or as a name for it. */
const hosts = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.1.',
  '127.0.1',
  '127.0.0.2',
  '2130706433',
  '2130706433.',
  '0x7f000001',
  '0x7F.0.0.1',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.1',
  '0177.0x0.0.01',
  '000000177.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  '00.0',
  '%31%32%37.0.0.1',
  '127.0.0.%31',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '127｡1',
  '127.0.0.1\t',
  '12\n7.0.0.1',
  '12\u00ad7.0.0.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:0.0.0.0]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::1%25lo]',
  '[fe80::1]',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'lOcAlHoSt',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'local%68ost',
  'localhost.localdomain',
  'any.localhost',
  'ip6-localhost',
  'ip6-loopback',
  'loopback.test',
  'loopback.test.',
  'LOOPBACK.test',
  'bücher.test',
  'xn--bcher-kva.test',
  'BÜCHER。test',
  '127.0.0.1.wildcard.test',
  'loopback6.test',
  'mapped.test',
  'nat64.test',
  'zero.test',
  'behind.test',
  'before.test',
  'other-family.test',
  'alias.test',
];

const urls = [
  ...hosts.map((host) => `http://${host}:${port}/`),
  ...['127.0.0.1', 'localhost', '[::1]', 'loopback.test'].map((host) => `https://${host}:${port}/`),
  `http://user@127.0.0.1:${port}/`,
  `http://user:secret@127.0.0.1:${port}/`,
  `http://:secret@127.0.0.1:${port}/`,
  `http://example.org@127.0.0.1:${port}/`,
  `http://example.org:80@127.0.0.1:${port}/`,
  `http://example.org%40127.0.0.1:${port}/`,
  `http://a@b@127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}@example.org/`,
  `http://example.org\\@127.0.0.1:${port}/`.replace('example.org', 'loopback.test'),
  `http://127.0.0.1:${port}\\@example.org/`,
  `http://127.0.0.1:${port}#@example.org/`,
  `http://127.0.0.1:${port}?@example.org/`,
  `http://127.0.0.1:${port}\r\nHost: example.org/`,
  `http://127.0.0.1:${port}/\r\nHost: example.org`,
  `http://127.0.0.1:${port}/%0d%0aHost:%20example.org`,
  `http://127.0.0.1\r\n:${port}/`,
  `http://\r\n127.0.0.1:${port}/`,
  `http://127.0.0.1%00.example.org:${port}/`,
  `http://127.0.0.1%0d%0a:${port}/`,
  `http://127.0.0.1 :${port}/`,
  `http://127.0.0.1,example.org:${port}/`,
  `http://127.0.0.1;example.org:${port}/`,
  `http:127.0.0.1:${port}/`,
  `http:/127.0.0.1:${port}/`,
  `http:///127.0.0.1:${port}/`,
  `http:\\\\127.0.0.1:${port}\\`,
  `HTTP://127.0.0.1:${port}/`,
  ` \thttp://127.0.0.1:${port}/ `,
  `//127.0.0.1:${port}/`,
  `127.0.0.1:${port}`,
  `/`,
  '',
  `http://`,
  `http://[${'0:'.repeat(40)}1]:${port}/`,
  ...['ftp', 'ws', 'wss', 'gopher', 'dict', 'ldap', 'tftp', 'unix', 'jar:http', 'view-source:http', 'blob:http'].map(
    (scheme) => `${scheme}://127.0.0.1:${port}/`,
  ),
  'file:///etc/passwd',
  `data:text/html,<img src=http://127.0.0.1:${port}/>`,
  'javascript:alert(1)',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://metadata.google.internal/',
];

it('the list has at least 120 different addresses', () => {
  expect(new Set(urls).size).toBe(urls.length);
  expect(urls.length).toBeGreaterThanOrEqual(120);
});

it('an allowed call reaches the canary, so that its silence is meaningful', async () => {
  const allowing: OutboundPolicy = { ...policy, allowHosts: [{ host: '127.0.0.1', port: null }] };
  const before = canary.connections();
  const { body } = await guardedFetch(canary.origin, allowing, { maxBytes: 1_000, timeoutMs: 20_000 });
  expect([body.toString(), canary.connections() - before]).toEqual(['reached', 1]);
});

/** The error of a call, which must not reach this machine. */
async function refusalOf(url: string, timeoutMs?: number): Promise<OutboundError> {
  const before = canary.connections();
  const failure: unknown = await call(url, timeoutMs).then(
    () => null,
    (error: unknown) => error,
  );
  expect(canary.connections()).toBe(before);
  expect(failure).toBeInstanceOf(OutboundError);
  return failure as OutboundError;
}

describe('a hostile address reaches no server', () => {
  it.each(urls)('%j', async (url) => {
    expect(['blocked', 'unreachable']).toContain((await refusalOf(url)).reason);
  });

  it('if it is too long for a host name', async () => {
    for (const host of ['a'.repeat(64), `${'a.'.repeat(200)}test`, 'x'.repeat(100_000)])
      await refusalOf(`http://${host}:${port}/`);
  });
});

describe('a feed at a hostile address reaches no server', () => {
  const read = (url: string) =>
    fetchFeed({ url, policy, etag: null, lastModified: null, signal: new AbortController().signal });

  it.each(['directly', 'after a redirect'])('%s', async (where) => {
    const before = canary.connections();
    for (const url of urls) {
      const address = where === 'directly' ? url : hopTo(url.replaceAll(/[\r\n]/g, ''));
      await expect(read(address), address).rejects.toBeInstanceOf(SourceFailure);
    }
    expect(canary.connections()).toBe(before);
  });
});

describe('a redirect to a hostile address is not followed', () => {
  // The parser reads an address without a scheme as a path of the redirecting host.
  const absolute = urls.filter((url) => URL.canParse(url) && !/^ |^http:(?!\/\/|\\\\)|^http:\/[^/]/.test(url));

  it.each(absolute)('%j', async (url) => {
    // A header cannot contain line breaks, and the parser would drop them.
    expect(['blocked', 'unreachable']).toContain((await refusalOf(hopTo(url.replaceAll(/[\r\n]/g, '')))).reason);
  });

  it.each([301, 302, 303, 307, 308])('with status %i', async (status) => {
    expect(await refusalOf(hopTo(canary.origin, { status: String(status) }))).toMatchObject({ reason: 'blocked' });
  });

  it.each([`//127.0.0.1:${port}/`, `\\\\127.0.0.1:${port}`, `/\\127.0.0.1:${port}/`])('in the form %s', async (to) => {
    expect(await refusalOf(hopTo(to))).toMatchObject({ reason: 'blocked' });
  });

  it('after any number of earlier redirects', async () => {
    for (const rounds of [1, 2]) {
      expect(await refusalOf(hopTo(canary.origin, { rounds: String(rounds) }))).toMatchObject({ reason: 'blocked' });
    }
    for (const rounds of [3, 4, 50]) {
      expect(await refusalOf(hopTo(canary.origin, { rounds: String(rounds) }))).toMatchObject({ reason: 'redirects' });
    }
  });

  it('and neither are other references in an answer', async () => {
    const before = canary.connections();
    expect(await call(hopTo(canary.origin, { status: '200' }))).toMatchObject({ status: 200 });
    expect(canary.connections()).toBe(before);
  });
});

describe('a name that changes its address between check and connection', () => {
  it('is called at the checked address', async () => {
    // Without a route the call fails at once, otherwise at its time limit.
    expect(['unreachable', 'timeout']).toContain((await refusalOf(`http://rebinding.test:${port}/`, 1_000)).reason);
    expect(dns.asked.get('rebinding.test')).toBe(1);
    expect(await refusalOf(`http://rebinding.test:${port}/`)).toMatchObject({ reason: 'blocked' });
  });
});

/** Everything that parsers, resolvers and sockets accept as a metadata service, another link-local neighbor, or a name for one. */
const neighbors = [
  '169.254.169.254',
  '169.254.169.254.',
  '169.254.43518',
  '169.254.43518.',
  '169.16689662',
  '2852039166',
  '2852039166.',
  '0xa9fea9fe',
  '0xA9FEA9FE',
  '0xa9.0xfe.0xa9.0xfe',
  '0xa9.254.169.254',
  '0xa9.0xfea9fe',
  '0251.0376.0251.0376',
  '0251.254.169.254',
  '0251.0376.0124776',
  '0251.077524776',
  '025177524776',
  '000000251.254.169.254',
  '169.254.169.%32%35%34',
  '%31%36%39.254.169.254',
  '169%2e254%2e169%2e254',
  '１６９.２５４.１６９.２５４',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④',
  '169。254。169。254',
  '169．254．169．254',
  '169｡254.169.254',
  '169.254.169.254\t',
  '16\n9.254.169.254',
  '169\u00ad.254.169.254',
  '169.254.0.1',
  '169.254.170.2',
  '169.254.255.255',
  '100.100.100.200',
  '0x646464c8',
  '1684301000',
  '192.0.0.192',
  '168.63.129.16',
  '0.0.0.0',
  '0',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::ffff:169.254.169.254]',
  '[::FFFF:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:169.254.169.254]',
  '[::169.254.169.254]',
  '[::ffff:0:169.254.169.254]',
  '[::ffff:100.100.100.200]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::169.254.169.254]',
  '[2002:a9fe:a9fe::]',
  '[2001:0:a9fe:a9fe::1]',
  '[fe80::1]',
  '[fe80::a9fe:a9fe]',
  '[FE80::1]',
  '[febf::1]',
  '[fe80::1%25eth0]',
  '[fec0::1]',
  '[ff02::1]',
  '[fd00:ec2::254]',
  '[fd00:0ec2:0:0:0:0:0:254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '[fd00:42::42]',
  '[fd00:c1::a9fe:a9fe]',
  'metadata.test',
  'metadata.test.',
  'METADATA.test',
  'm%65tadata.test',
  'metadata。test',
  '169.254.169.254.wildcard.test',
  'metadata-of-alibaba.test',
  'metadata-of-oracle.test',
  'metadata-of-azure.test',
  'metadata-of-aws.test',
  'metadata-of-google.test',
  'link-local.test',
  'mapped-metadata.test',
  'nat64-metadata.test',
  'multicast.test',
  'metadata-behind.test',
  'metadata-before.test',
  'metadata-of-other-family.test',
  'metadata-alias.test',
];

const privately: OutboundPolicy = { ...policy, reach: 'private' };
const neighborUrls = [
  ...neighbors.map((host) => `http://${host}/latest/meta-data/`),
  ...['169.254.169.254', '[fe80::1]', 'metadata.test', '100.100.100.200'].flatMap((host) => [
    `https://${host}/`,
    `http://${host}:8080/`,
    `http://user:secret@${host}/`,
    `http:\\\\${host}\\`,
    `http:${host}/`,
    `http:///${host}/`,
    `HTTP://${host}/`,
    ` \thttp://${host}/ `,
    `http://${host}#@127.0.0.1:${port}/`,
    `http://${host}?@127.0.0.1:${port}/`,
  ]),
];

/** The error of a call, which must not even create a socket. */
async function refusalWithoutSocket(work: () => Promise<unknown>): Promise<unknown> {
  let sockets = 0;
  const count = () => (sockets += 1);
  channel('net.client.socket').subscribe(count);
  try {
    return await work().then(
      () => null,
      (error: unknown) => error,
    );
  } finally {
    channel('net.client.socket').unsubscribe(count);
    expect(sockets).toBe(0);
  }
}

describe('an address that an administrator may set', () => {
  it('has at least 120 different entries', () => {
    expect(new Set(neighborUrls).size).toBe(neighborUrls.length);
    expect(neighborUrls.length).toBeGreaterThanOrEqual(120);
  });

  it('may be private: the call reaches the canary, and the test sees its socket', async () => {
    const before = canary.connections();
    expect(await guardedFetch(canary.origin, privately, { maxBytes: 1_000, timeoutMs: 20_000 })).toMatchObject({
      status: 200,
    });
    expect(canary.connections() - before).toBe(1);
    await expect(
      refusalWithoutSocket(() => guardedFetch(canary.origin, privately, { maxBytes: 1_000, timeoutMs: 20_000 })),
    ).rejects.toThrow();
  });

  it.each(neighborUrls)('is never link-local: %j', async (url) => {
    const failure = await refusalWithoutSocket(() =>
      guardedFetch(url, privately, { maxBytes: 1_000, timeoutMs: 20_000 }),
    );
    expect(failure).toMatchObject({ name: 'OutboundError', reason: expect.stringMatching(/blocked|unreachable/) });
  });

  it.each(neighbors.filter((host) => !/[%\t\n]/.test(host)))('blocks a redirect to %j', async (host) => {
    const failure: unknown = await guardedFetch(
      hopTo(`http://${host}:${port}/`),
      { ...privately, allowHosts: [] },
      { maxBytes: 1_000, timeoutMs: 20_000 },
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: expect.stringMatching(/blocked|unreachable/) });
  });
});

describe('a host for a client of another protocol', () => {
  const bare = (host: string) => host.replace(/^\[(.*)\]$/, '$1');

  it('is reached in every spelling if the policy allows it', async () => {
    for (const host of ['127.0.0.1', '0x7f.1', 'loopback.test', 'LOOPBACK.test.']) {
      const before = canary.connections();
      const socket = await dialUnder(privately)(host, port, AbortSignal.timeout(20_000));
      socket.destroy();
      await expect.poll(() => canary.connections() - before).toBe(1);
    }
  });

  const refused = { code: expect.stringMatching(/^(OUTBOUND_BLOCKED|ENOTFOUND)$/) };
  it.each(hosts)('must be public under a public policy: %j', async (host) => {
    expect(
      await refusalWithoutSocket(() => dialUnder(policy)(bare(host), port, AbortSignal.timeout(20_000))),
    ).toMatchObject(refused);
  });

  it.each([...neighbors, 'a@127.0.0.1', '127.0.0.1/x', '127.0.0.1:1', '127.0.0.1#', '127.0.0.1\\x', ''])(
    'is never link-local: %j',
    async (host) => {
      expect(
        await refusalWithoutSocket(() => dialUnder(privately)(bare(host), port, AbortSignal.timeout(20_000))),
      ).toMatchObject(refused);
    },
  );
});
