import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '@portal/domain/secret';
import { type CalendarServer, icsOf, sendIcs, startCalendarServer } from '@portal/testing/servers/calendar-server';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { type ServerCertificate, trustTestAuthority } from '@portal/testing/servers/tls';
import { downloadEvents, findCalendars } from './caldav.ts';
import { type CalendarAccess, requestOf } from './calendar-access.ts';
import { downloadIcs, type IcsValidators } from './ics.ts';
import { readCollections, readEvents } from './read-dav.ts';

trustTestAuthority();
const [server, other] = await Promise.all([startCalendarServer(), startCalendarServer()]);
const folder = await mkdtemp(join(tmpdir(), 'portal-test-calendars-'));
const usual = server.answer;
afterAll(() => Promise.all([server.stop(), other.stop(), rm(folder, { recursive: true, force: true })]));
beforeEach(() => {
  for (const one of [server, other]) {
    one.answer = usual;
    one.seen.length = 0;
  }
});

const signIn = { username: 'ada', password: new Secret('secret') };
const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;

const access = (url: string, timeoutMs = 20_000, more: Partial<CalendarAccess> = {}): CalendarAccess => ({
  url: new Secret(url),
  username: null,
  password: null,
  policy: {
    reach: 'public',
    allowHosts: [
      { host: 'localhost', port: null },
      { host: '127.0.0.1', port: null },
    ],
  },
  until: performance.now() + timeoutMs,
  ...more,
});

let place = '';
function newFile() {
  place = join(folder, randomUUID());
  return open(place, 'wx+');
}
async function download(url: string, known?: IcsValidators, timeoutMs?: number, more?: Partial<CalendarAccess>) {
  await using file = await newFile();
  return await downloadIcs(access(url, timeoutMs, more), file, known);
}
const feed = () => `${server.origin}/team.ics`;
const answering = (status: number, headers: Record<string, string | number> = {}, body: string | Buffer = '') => {
  server.answer = (_request, response) => void response.writeHead(status, headers).end(body);
};
/** A file that keeps growing for a long time. */
function* endless(megabytes: number): Generator<Buffer> {
  yield Buffer.from('BEGIN:VCALENDAR\r\n');
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  for (let n = 0; n < megabytes; n += 1) yield chunk;
}

describe('a file of events', () => {
  it('is written to its place, and requested again with the validators of its server', async () => {
    server.answer = (request, response) => {
      response.setHeader('last-modified', 'Fri, 20 Nov 2026 08:00:00 GMT');
      sendIcs(request, response, `\uFEFF\r\n${icsOf('One', 'Two')}`, 'W/"7"');
    };
    const validators = await download(feed());
    expect(validators).toEqual({ etag: 'W/"7"', lastModified: 'Fri, 20 Nov 2026 08:00:00 GMT' });
    expect(await readFile(place, 'utf8')).toContain('SUMMARY:Two');
    expect(await download(feed(), validators ?? {})).toBeNull();
    expect((await stat(place)).size).toBe(0);
    expect(
      server.seen.map(({ headers }) => [headers.accept, headers['if-none-match'], headers['if-modified-since']]),
    ).toEqual([
      ['text/calendar', undefined, undefined],
      ['text/calendar', 'W/"7"', 'Fri, 20 Nov 2026 08:00:00 GMT'],
    ]);
  });

  it('stores no validator that is too long', async () => {
    server.answer = (request, response) => sendIcs(request, response, icsOf('One'), `"${'x'.repeat(5_000)}"`);
    expect(await download(feed())).toEqual({});
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'notFound'],
    [410, 'notFound'],
    [429, 'unreachable'],
    [500, 'unreachable'],
    [503, 'unreachable'],
    [204, 'invalid'],
    [206, 'invalid'],
    [304, 'invalid'],
    [400, 'invalid'],
    [405, 'invalid'],
  ] as const)('answered with %i is %s', async (status, error) => {
    answering(status, { 'content-type': 'text/calendar' }, status === 204 || status === 304 ? '' : icsOf('One'));
    await expect(download(feed())).rejects.toMatchObject({ name: 'CalendarFailure', error });
  });

  it.each([
    ['a page to sign in', '<!doctype html><title>Sign in</title>'],
    ['nothing', ''],
    ['a file with a similar beginning', 'BEGIN:VCALENDARS\r\n'],
    ['an address book', 'BEGIN:VCARD\r\nEND:VCARD\r\n'],
  ])('that is %s is invalid', async (_name, body) => {
    answering(200, { 'content-type': 'text/calendar' }, body);
    await expect(download(feed())).rejects.toMatchObject({ error: 'invalid' });
  });

  it('follows three redirects, only over https, and signs in nowhere else', async () => {
    other.answer = (request, response) => sendIcs(request, response, icsOf('Elsewhere'));
    server.answer = ({ path }, response) => {
      const rest = Number(path.slice(1));
      const location = rest === 0 ? `${other.origin}/x.ics` : `/${rest - 1}`;
      response.writeHead(301, { location }).end();
    };
    expect(await download(`${server.origin}/2`, {}, 20_000, signIn)).toEqual({ etag: '"1"' });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      authorization,
      authorization,
      authorization,
    ]);
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await expect(download(`${server.origin}/3`)).rejects.toMatchObject({ error: 'invalid' });

    const plain = await startHttpServer((_request, response) => response.end(icsOf('Plain')));
    answering(302, { location: `${plain.origin}/x.ics` });
    await expect(download(feed())).rejects.toMatchObject({ error: 'invalid' });
    expect(plain.connections()).toBe(0);
    await plain.close();
  });

  it('is not called at a blocked address, which is reported as unreachable', async () => {
    const policy = { reach: 'public' as const, allowHosts: [] };
    await expect(download(feed(), {}, 20_000, { policy })).rejects.toMatchObject({ error: 'unreachable' });
    const onlyServer = { reach: 'public' as const, allowHosts: [{ host: 'localhost', port: server.port }] };
    answering(302, { location: `${other.origin}/x.ics` });
    await expect(download(feed(), {}, 20_000, { policy: onlyServer })).rejects.toMatchObject({ error: 'unreachable' });
    expect(other.seen).toEqual([]);
  });

  it.each<[ServerCertificate]>([['expired'], ['self-signed'], ['elsewhere']])(
    'of a server with the certificate “%s” is not read',
    async (certificate) => {
      const doubtful = await startCalendarServer(certificate);
      await expect(download(`${doubtful.origin}/x.ics`)).rejects.toMatchObject({ error: 'certificate' });
      await doubtful.stop();
    },
  );

  it('distinguishes an unreachable server from a slow one', async () => {
    await expect(download('https://localhost:1/x.ics')).rejects.toMatchObject({ error: 'unreachable' });
    await expect(download('https://nobody.invalid/x.ics')).rejects.toMatchObject({ error: 'unreachable' });
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    // Connected without TLS: the server counts as unreachable.
    await expect(download(`https://localhost:${port}/x.ics`, {}, 300)).rejects.toMatchObject({ error: 'unreachable' });
    silent.close();
    server.answer = () => undefined;
    await expect(download(feed(), {}, 300)).rejects.toMatchObject({ error: 'timeout' });
    server.answer = (_request, response) => void response.writeHead(200).write(icsOf('One').slice(0, 40));
    await expect(download(feed(), {}, 300)).rejects.toMatchObject({ error: 'timeout' });
    await expect(download(feed(), {}, -1)).rejects.toMatchObject({ error: 'timeout' });
  });

  it('ends at 10 MiB, also for a gigabyte or a file that unpacks to one', async () => {
    let sent: Promise<void> = Promise.resolve();
    const pour = (work: Promise<void>) => {
      sent = work;
      sent.catch(() => undefined);
    };
    server.answer = (_request, response) => pour(pipeline(endless(1_024), response));
    await expect(download(feed())).rejects.toMatchObject({ error: 'invalid' });
    await expect(sent).rejects.toThrow();
    expect((await stat(place)).size).toBeLessThanOrEqual(10 * 1024 * 1024);
    server.answer = (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      pour(pipeline(endless(1_024), createGzip(), response));
    };
    await expect(download(feed())).rejects.toMatchObject({ error: 'invalid' });
    await expect(sent).rejects.toThrow();
    expect((await stat(place)).size).toBeLessThanOrEqual(10 * 1024 * 1024);
  });
});

const multistatus = (...responses: string[]) =>
  `<?xml version="1.0" encoding="utf-8"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:cs="http://calendarserver.org/ns/">${responses.join('')}</d:multistatus>`;
const saying = (href: string, properties: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
const calendarAt = (href: string, name: string, component = 'VEVENT', version = '1') =>
  saying(
    href,
    `<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>${name}</d:displayname><cs:getctag>${version}</cs:getctag><c:supported-calendar-component-set><c:comp name="${component}"/></c:supported-calendar-component-set>`,
  );

/** Answers by path and depth; everything else is 404. */
function davServer(of: CalendarServer, answers: Record<string, string>) {
  of.answer = ({ method, path, headers }, response) => {
    const body = answers[`${method} ${path} ${String(headers['depth'])}`];
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' }).end(body);
  };
}

describe('a calendar server', () => {
  const find = (url: string, more: Partial<CalendarAccess> = signIn) =>
    findCalendars(access(url, 20_000, more), readCollections);
  const principal = saying('/', '<d:current-user-principal><d:href>/people/ada/</d:href></d:current-user-principal>');
  const homeSet = (href: string) =>
    saying('/people/ada/', `<c:calendar-home-set><d:href>${href}</d:href></c:calendar-home-set>`);

  it('is asked for the principal, the home and its calendars, of which those with events count', async () => {
    davServer(server, {
      'PROPFIND / 0': multistatus(principal),
      'PROPFIND /people/ada/ 0': multistatus(homeSet('/calendars/ada/')),
      'PROPFIND /calendars/ada/ 1': multistatus(
        saying('/calendars/ada/', '<d:resourcetype><d:collection/></d:resourcetype>'),
        calendarAt('/calendars/ada/work/', '0012', 'VEVENT', '<![CDATA[a & b]]>'),
        calendarAt('/calendars/ada/tasks/', 'Tasks', 'VTODO'),
        calendarAt('/calendars/ada/private%20life/', ''),
      ),
    });
    expect(await find(server.origin)).toEqual([
      { name: '0012', url: `${server.origin}/calendars/ada/work/`, version: 'a & b' },
      { name: 'private life', url: `${server.origin}/calendars/ada/private%20life/`, version: '1' },
    ]);
    expect(server.seen.every(({ headers }) => headers.authorization === authorization)).toBe(true);
  });

  it('that is a calendar itself is the only one found', async () => {
    davServer(server, { 'PROPFIND /cal/ 0': multistatus(calendarAt('/cal/', 'Team')) });
    expect(await find(`${server.origin}/cal/`)).toEqual([{ name: 'Team', url: `${server.origin}/cal/`, version: '1' }]);
  });

  it('is found by its well-known address, where a redirected PROPFIND stays a PROPFIND', async () => {
    davServer(server, {
      'PROPFIND /dav/ 0': multistatus(principal),
      'PROPFIND /people/ada/ 0': multistatus(homeSet('/calendars/ada/')),
      'PROPFIND /calendars/ada/ 1': multistatus(calendarAt('/calendars/ada/work/', 'Work')),
    });
    const dav = server.answer;
    server.answer = (request, response) =>
      request.path === '/.well-known/caldav'
        ? void response.writeHead(301, { location: '/dav/' }).end()
        : dav(request, response);
    expect(await find(`${server.origin}/`)).toMatchObject([{ name: 'Work' }]);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PROPFIND /',
      'PROPFIND /.well-known/caldav',
      'PROPFIND /dav/',
      'PROPFIND /people/ada/',
      'PROPFIND /calendars/ada/',
    ]);
    expect(server.seen.every(({ body }) => body.includes('current-user-principal'))).toBe(true);
  });

  it('that names a home on another server causes no sign-in there; other schemes are not followed', async () => {
    davServer(server, {
      'PROPFIND / 0': multistatus(principal),
      'PROPFIND /people/ada/ 0': multistatus(homeSet(`${other.origin}/calendars/ada/`)),
    });
    davServer(other, { 'PROPFIND /calendars/ada/ 1': multistatus(calendarAt('/calendars/ada/x/', 'X')) });
    expect(await find(server.origin)).toMatchObject([{ url: `${other.origin}/calendars/ada/x/` }]);
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    for (const href of ['http://localhost/x/', 'file:///etc/', 'https://a:b@localhost/']) {
      davServer(server, {
        'PROPFIND / 0': multistatus(principal),
        'PROPFIND /people/ada/ 0': multistatus(homeSet(href)),
      });
      await expect(find(server.origin)).rejects.toMatchObject({ error: 'invalid' });
    }
  });

  it.each([
    ['https://caldav.icloud.com/', 'https://p34-caldav.icloud.com:443/1/calendars/', true],
    ['https://CALDAV.iCloud.com', 'https://P07-caldav.icloud.com/1/calendars/', true],
    ['https://caldav.icloud.com/', 'https://caldav.icloud.com/1/principal/', true],
    ['https://caldav.icloud.com/', 'http://p34-caldav.icloud.com/', false],
    ['https://caldav.icloud.com/', 'https://p34-caldav.icloud.com:8443/', false],
    ['https://caldav.icloud.com/', 'https://p34-caldav.icloud.com.example.org/', false],
    ['https://caldav.icloud.com/', 'https://p34-caldavxicloud.com/', false],
    ['https://caldav.icloud.com/', 'https://x.p34-caldav.icloud.com/', false],
    ['https://caldav.icloud.com/', 'https://www.icloud.com/', false],
    ['https://caldav.icloud.com/', 'https://p34-caldav.icloud.com@example.org/', false],
    ['https://caldav.icloud.com:8443/', 'https://p34-caldav.icloud.com/', false],
    ['https://p34-caldav.icloud.com/', 'https://p35-caldav.icloud.com/', false],
    ['https://caldav.example.org/', 'https://p34-caldav.example.org/', false],
    ['https://caldav.example.org/', 'https://p34-caldav.icloud.com/', false],
  ])('at %s that names %s receives the sign-in there: %s', (url, to, isSent) => {
    const { headers } = requestOf(access(url, 20_000, signIn), new URL(to), {});
    expect(headers.authorization).toBe(isSent ? authorization : undefined);
  });

  it.each([
    ['refuses the sign-in', 401, '', 'unauthorized'],
    ['is missing', 404, '', 'notFound'],
    ['fails', 502, '', 'unreachable'],
    ['does not support PROPFIND', 405, '', 'invalid'],
    ['shows a page', 200, '<html><body>It works!</body></html>', 'invalid'],
    ['calls a page a multistatus', 207, '<html><body>It works!</body></html>', 'invalid'],
    ['sends nothing', 207, '', 'invalid'],
    ['sends half of the answer', 207, multistatus(principal).slice(0, 200), 'invalid'],
    ['declares a document type', 207, `<!DOCTYPE d [<!ENTITY x "y">]>${multistatus(principal)}`, 'invalid'],
    ['has a hundred thousand entries', 207, multistatus(principal.repeat(100_000)), 'invalid'],
    ['names no principal', 207, multistatus(saying('/', '')), 'invalid'],
  ] as const)('that %s: %i', async (_name, status, body, error) => {
    answering(status, { 'content-type': 'application/xml' }, body);
    await expect(find(server.origin)).rejects.toMatchObject({ name: 'CalendarFailure', error });
  });

  it('is asked for the events of a window, and its answer becomes an events file', async () => {
    const calendar = { name: 'Work', url: `${server.origin}/cal/`, version: null };
    const objects = [`<![CDATA[${icsOf('In CDATA')}]]>`, icsOf('R&amp;D').replaceAll('\r', '&#13;')];
    davServer(server, {
      'REPORT /cal/ 1': multistatus(
        ...objects.map((ics, n) => saying(`/cal/${n}.ics`, `<c:calendar-data>${ics}</c:calendar-data>`)),
        saying('/cal/gone.ics', ''),
      ),
    });
    const range = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2026-12-01T00:00:00.500Z') };
    await using file = await newFile();
    await downloadEvents(access(server.origin, 20_000, signIn), calendar, range, file);
    const events = Buffer.from((await readEvents(await readFile(place))) ?? []).toString();
    expect(events).toContain('SUMMARY:In CDATA');
    expect(events).toContain('SUMMARY:R&D');
    expect(server.seen[0]?.body).toMatch(/time-range start="20261101T000000Z" end="20261201T000000Z"/);

    answering(507);
    const failed = downloadEvents(access(server.origin), calendar, range, file);
    await expect(failed).rejects.toMatchObject({ error: 'unreachable' });
    expect(await readEvents(Buffer.from('<html/>'))).toBeNull();
  });

  it.each(['\r\n ', '\n\t', '&#13;\n ', '&#xD;\n\t'])(
    'has lines unfolded that are folded inside a character: %j',
    async (fold) => {
      const octets = Buffer.from('Jörg 🙂').toString('latin1');
      const ics = icsOf('#').replace('SUMMARY:#', () => `SUMMARY:${[...octets].join(fold)}`);
      const body = multistatus(saying('/cal/1.ics', `<c:calendar-data>${ics}</c:calendar-data>`));
      const events = Buffer.from((await readEvents(Buffer.from(body, 'latin1'))) ?? []).toString();
      expect(events.replaceAll(/\r?\n[ \t]/g, '')).toContain('SUMMARY:Jörg 🙂');
    },
  );
});
