import { globSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CalendarEvents } from '@portal/domain/calendar/events';
import { DAY, MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { taskOf } from '@portal/platform/sandbox/task';
import { childProcesses } from '@portal/testing/child-processes';
import { canLimitFileSize, limitFileSize } from '@portal/testing/file-size-limit';
import { cpuSecOf } from '@portal/testing/processor-time';
import type { run as act } from '@portal/testing/sandbox-task';
import { icsOf, sendIcs, startCalendarServer } from '@portal/testing/servers/calendar-server';
import { startRadicale, type TestRadicale } from '@portal/testing/servers/radicale';
import { trustTestAuthority } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { the } from '@portal/testing/the';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { listEvents } from '@portal/usecases/calendar/events';
import { testApp } from '../../testing/app.ts';

trustTestAuthority();
const server = await startCalendarServer();
const usual = server.answer;
const { request, make, config, ownerUrl, signedIn, runtime } = await testApp({
  env: { OUTBOUND_ALLOW_HOSTS: 'localhost' },
});
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => Promise.all([owner.end(), server.stop()]));

let ada: Awaited<ReturnType<typeof make.user>>;
beforeEach(async () => {
  server.answer = usual;
  server.seen.length = 0;
  ada = await make.user({ role: 'ADMIN' });
  strayBefore = await strayFiles();
});

const november = 'from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z';
async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) {
  const answer = await request({ method, url, as: ada, ...(payload && { payload }) });
  expect(answer.statusCode).toBeLessThan(300);
  return answer.body === '' ? null : answer.json();
}
const events = (window = november): Promise<CalendarEvents> => call('GET', `/calendar/events?${window}`);
const titles = async (window?: string) => (await events(window)).events.map(({ title }) => title);
/** Reads the titles without a request, because the number of an account's concurrent requests is limited. */
async function titlesOf(ctx: UserContext): Promise<string[]> {
  const window = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2026-12-01T00:00:00Z') };
  const { events: found } = JSON.parse(Buffer.from(await listEvents(ctx, window)).toString()) as CalendarEvents;
  return found.map(({ title }) => title);
}
async function added(path: string, changes: object = {}): Promise<string> {
  const form = { name: path, kind: 'ics', url: `${server.origin}/${path}`, ...changes };
  return (await call('POST', '/calendar/sources', form)).id;
}
/** Moves the last read of the user's sources into the past. */
const later = (ms: number) =>
  owner.query(
    "update calendar_sources set checked_at = checked_at - $1 * interval '1 millisecond' where user_id = $2",
    [ms, ada.id],
  );
const storedFiles = () => globSync('files/calendars/*/*', { cwd: config.dataDir });
/** Files no calendar refers to. */
const strayFiles = async () => {
  const { rows } = await owner.query('select body_path from calendar_sources where body_path is not null');
  return storedFiles().filter((file) => !rows.some(({ body_path }) => file.endsWith(body_path)));
};
let strayBefore: string[] = [];

describe('events', () => {
  it('come from all active calendars, sorted by start, with days as dates and times in UTC', async () => {
    const whole = icsOf('Timed').replace(
      'BEGIN:VEVENT',
      [
        'BEGIN:VEVENT',
        'UID:days@example.org',
        'SUMMARY:Messe',
        'LOCATION:Halle 3\\, Nord',
        'DTSTART;VALUE=DATE:20261110',
        'DTEND;VALUE=DATE:20261112',
        'END:VEVENT',
        'BEGIN:VEVENT',
      ].join('\r\n'),
    );
    server.answer = ({ path }, response) => void response.end(path === '/a' ? whole : icsOf('<b>Other</b>'));
    const [first, second] = [await added('a'), await added('b')];
    await added('c', { isActive: false });
    const times = { start: '2026-11-10T08:00:00.000Z', end: '2026-11-10T09:00:00.000Z', allDay: false, location: null };
    expect(await events()).toEqual({
      events: [
        {
          sourceId: first,
          uid: 'days@example.org',
          title: 'Messe',
          start: '2026-11-10',
          end: '2026-11-12',
          allDay: true,
          location: 'Halle 3, Nord',
        },
        { sourceId: first, uid: 'Timed@example.org', title: 'Timed', ...times },
        { sourceId: second, uid: '<b>Other</b>@example.org', title: '<b>Other</b>', ...times },
      ],
      errors: [],
    });
    expect(server.seen.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']);
    expect(await titles('from=2026-11-10T23:00:00Z&to=2026-11-10T23:01:00Z')).toEqual(['Messe']);
    expect(await titles('from=2026-11-11T23:00:00Z&to=2026-11-12T23:00:00Z')).toEqual([]);
  });

  it('are fresh for five minutes; after that, a conditional request asks for changes', async () => {
    let etag = '"1"';
    server.answer = (asked, response) => sendIcs(asked, response, icsOf(`Version ${etag}`), etag);
    await added('a');
    expect(await titles()).toEqual(['Version "1"']);
    await later(4 * MINUTE);
    await titles();
    await titles('from=2026-11-02T00:00:00Z&to=2026-11-30T00:00:00Z');
    expect([server.seen.length, server.conditional()]).toEqual([1, 0]);
    await later(2 * MINUTE);
    const [kept] = storedFiles();
    expect(await titles()).toEqual(['Version "1"']);
    expect([server.seen.length, server.conditional()]).toEqual([2, 1]);
    expect(storedFiles()).toContain(kept);
    etag = '"2"';
    await later(6 * MINUTE);
    expect(await titles()).toEqual(['Version "2"']);
    expect([server.seen.length, server.conditional()]).toEqual([3, 2]);
    expect(await strayFiles()).toEqual(strayBefore);
  });

  it('of a failing calendar are those last read, with its error; the calendar is read again after a minute', async () => {
    const [good, bad] = [await added('good'), await added('bad')];
    expect(await titles()).toEqual(['Jour fixe', 'Jour fixe']);
    server.answer = (asked, response) =>
      asked.path === '/bad' ? void response.writeHead(403).end() : sendIcs(asked, response, icsOf('New'), '"2"');
    await later(6 * MINUTE);
    expect(await events()).toMatchObject({
      events: [
        { title: 'New', sourceId: good },
        { title: 'Jour fixe', sourceId: bad },
      ],
      errors: [{ sourceId: bad, error: 'unauthorized' }],
    });
    const asked = server.seen.length;
    await later(50 * SECOND);
    expect((await events()).errors).toHaveLength(1);
    expect(server.seen).toHaveLength(asked);
    server.answer = usual;
    await later(20 * SECOND);
    expect((await events()).errors).toEqual([]);
  });

  it('wait less than 15 s for calendars that hang, drip or are read by a process that died', async () => {
    server.answer = async ({ path }, response) => {
      if (path === '/good') return void response.end(icsOf('Good'));
      if (path === '/silent') return;
      for (const piece of icsOf('Dripping')) {
        if (response.destroyed) return;
        response.write(piece);
        await pause(500);
      }
    };
    const [good, silent, dripping, left] = [
      await added('good'),
      await added('silent'),
      await added('drip'),
      await added('left'),
    ];
    await owner.query(
      "update calendar_sources set claim = gen_random_uuid(), claimed_until = now() + interval '1 minute' where id = $1",
      [left],
    );
    const begun = performance.now();
    expect(await events()).toMatchObject({
      events: [{ title: 'Good', sourceId: good }],
      errors: [silent, dripping, left].map((sourceId) => ({ sourceId, error: 'timeout' })),
    });
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  it('of a calendar that takes longer than a call waits are available to the next call', async () => {
    server.answer = async (_asked, response) => {
      await pause(13_000);
      response.end(icsOf('Late'));
    };
    await added('late');
    expect(await events()).toMatchObject({ events: [], errors: [{ error: 'timeout' }] });
    await expect.poll(async () => (await events()).events, { timeout: 10_000 }).toMatchObject([{ title: 'Late' }]);
    expect(server.seen).toHaveLength(1);
  });

  it('are 503 after 15 s if all sandbox processes are busy', async () => {
    await added('a');
    const sandbox = openSandbox({ processes: 1 });
    const ctx = { ...(await signedIn(ada)), sandbox, resources: new Map() };
    const hanging = taskOf<typeof act>(new URL(import.meta.resolve('@portal/testing/sandbox-task')), {
      timeoutMs: MINUTE,
      maxMemoryMb: 200,
      maxOutputBytes: 1_000,
    });
    const held = sandbox.run(hanging, { act: 'work', ms: MINUTE }, { tenantId: null });
    const begun = performance.now();
    await expect(titlesOf(ctx)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSec: 5 });
    expect(performance.now() - begun).toBeLessThan(16_000);
    await Promise.all([sandbox.close(), expect(held).rejects.toThrow()]);
  });

  it('of an incomplete calendar are those that can be read, with an error', async () => {
    const each = 'RRULE:FREQ=SECONDLY\r\nEND:VEVENT';
    server.answer = (_asked, response) => void response.end(icsOf('Second').replace('END:VEVENT', each));
    const id = await added('seconds');
    const { events: found, errors } = await events();
    expect([found.length, errors]).toEqual([2_000, [{ sourceId: id, error: 'invalid' }]]);
    server.answer = (_asked, response) => void response.end('<html>Please sign in</html>');
    await later(6 * MINUTE);
    expect((await events()).events).toHaveLength(2_000);
  });

  it('of a calendar with unreadable lines are shown, and the lines are reported', async () => {
    const broken = icsOf('Odd').replace(/DTEND.*/, 'DTEND:soon');
    server.answer = (_asked, response) => void response.end(broken);
    const id = await added('odd');
    const line = broken.split('\r\n').indexOf('DTEND:soon') + 1;
    const reason = 'DTEND cannot be read. The event is shown with the default length.';
    expect(await events()).toMatchObject({
      events: [{ title: 'Odd', start: '2026-11-10T08:00:00.000Z', end: '2026-11-10T08:00:00.000Z' }],
      errors: [{ sourceId: id, error: 'invalid', lines: [{ line, code: 'LENGTH_UNREADABLE', reason }], lineCount: 1 }],
    });
  });

  it.runIf(process.platform === 'linux')(
    'that could not be computed in time are computed again after a minute',
    async () => {
      await added('a');
      const sandbox = openSandbox({ processes: 1 });
      const ctx = { ...(await signedIn(ada)), sandbox, resources: new Map() };
      const before = childProcesses();
      expect(await titlesOf(ctx)).toEqual(['Jour fixe']);
      const pid = the(childProcesses().find((child) => !before.includes(child)));
      // Reading this one takes long enough to be stopped in it. All but its first event are long past.
      const titlesOfLarge = ['Large', ...Array.from({ length: 15_000 }, (_, n) => `Old ${n}`)];
      const large = icsOf(...titlesOfLarge).replaceAll(/:202611(?!10T)\d+T/g, ':20191110T');
      server.answer = (_asked, response) => void response.end(large);
      await added('b');
      const usedSec = cpuSecOf(pid);
      const first = titlesOf(ctx);
      await expect.poll(() => cpuSecOf(pid)).toBeGreaterThan(usedSec + 0.05);
      process.kill(pid, 'SIGSTOP');
      // On a busy machine the first answer may be 503, and the work goes on.
      expect(await first.catch(() => titlesOf(ctx))).toEqual(['Jour fixe']);
      expect(await titlesOf(ctx)).toEqual(['Jour fixe']);
      const now = performance.now.bind(performance);
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + MINUTE);
      try {
        expect(await titlesOf(ctx)).toEqual(['Jour fixe', 'Large']);
      } finally {
        clock.mockRestore();
        await sandbox.close();
      }
      expect(server.seen).toHaveLength(2);
    },
  );

  it.runIf(canLimitFileSize)('are 503 while the disk is full, and no calendar gets an error', async () => {
    await added('a');
    const before = storedFiles();
    const regainRoom = await limitFileSize();
    try {
      const answer = await request({ method: 'GET', url: `/calendar/events?${november}`, as: ada });
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '60']);
    } finally {
      await regainRoom();
    }
    expect(storedFiles()).toEqual(before);
    expect(await events()).toMatchObject({ events: [{}], errors: [] });
  });

  describe('of a tenant whose calendars use all its storage', () => {
    const maxBytes = 1024 ** 3;
    const bytesOf = async (id: string): Promise<number | null> =>
      (await owner.query('select size_bytes from calendar_sources where id = $1', [id])).rows[0].size_bytes;
    /** Makes a colleague's calendar leave only this many bytes. */
    async function leaveBytes(bytes: number): Promise<void> {
      const colleague = await make.user({ role: 'ADMIN', tenantId: ada.tenantId });
      const payload = { name: 'Large', kind: 'ics', url: `${server.origin}/large` };
      const { id } = (await request({ method: 'POST', url: '/calendar/sources', as: colleague, payload })).json();
      await request({ method: 'GET', url: `/calendar/events?${november}`, as: colleague });
      expect(await bytesOf(id)).toBe(icsOf('Jour fixe').length);
      await owner.query('update calendar_sources set size_bytes = $2 where id = $1', [id, maxBytes - bytes]);
    }

    it('are those last read until there is space again or a shorter version fits', async () => {
      const id = await added('full');
      await titles();
      await leaveBytes(icsOf('Short').length);
      const before = storedFiles();
      server.answer = (asked, response) => sendIcs(asked, response, icsOf('Longer'), '"2"');
      await later(6 * MINUTE);
      expect(await events()).toMatchObject({
        events: [{ title: 'Jour fixe' }],
        errors: [{ sourceId: id, error: 'storageFull' }],
      });
      expect(storedFiles()).toEqual(before);
      server.answer = (asked, response) => sendIcs(asked, response, icsOf('Short'), '"3"');
      await later(2 * MINUTE);
      expect(await events()).toMatchObject({ events: [{ title: 'Short' }], errors: [] });
      expect(await bytesOf(id)).toBe(icsOf('Short').length);
    });

    it('never use the remaining storage twice, and other tenants have their own', async () => {
      await leaveBytes(icsOf('Jour fixe').length);
      for (const path of ['a', 'b']) await added(path);
      expect(await events()).toMatchObject({ events: [{}], errors: [{ error: 'storageFull' }] });
      expect(await strayFiles()).toEqual(strayBefore);
      ada = await make.user({ role: 'ADMIN' });
      await added('a');
      expect(await events()).toMatchObject({ events: [{}], errors: [] });
    });

    it('are counted again if a calendar was stored before sizes were', async () => {
      const id = await added('a');
      await titles();
      await owner.query('update calendar_sources set size_bytes = null where id = $1', [id]);
      await later(6 * MINUTE);
      await titles();
      expect(await bytesOf(id)).toBe(icsOf('Jour fixe').length);
    });
  });

  it('requested fifty times at once cause one request per calendar', async () => {
    server.answer = async (asked, response) => {
      await pause(300);
      sendIcs(asked, response, icsOf(asked.path));
    };
    for (const path of ['a', 'b']) await added(path);
    const ctx = await signedIn(ada);
    const answers = await Promise.all(Array.from({ length: 50 }, () => titlesOf(ctx)));
    expect(new Set(answers.map(String))).toEqual(new Set(['/a,/b']));
    expect(server.seen.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']);
  });

  it('are read by only one of several processes', async () => {
    server.answer = async (asked, response) => {
      await pause(500);
      sendIcs(asked, response, icsOf('Shared'));
    };
    await added('a');
    const otherRuntime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
    const session = await make.session(ada);
    const system = otherRuntime.system({ requestId: 'x', ip: null, userAgent: null });
    const token = sessionTokens(system).issue({ sub: ada.id, tid: ada.tenantId, sid: session.id, ver: 1 });
    const contexts = [await signedIn(ada), await authenticate(system, token)];
    expect(await Promise.all(contexts.map(titlesOf))).toEqual([['Shared'], ['Shared']]);
    expect(server.seen).toHaveLength(1);
    await otherRuntime.close();
  });
});

describe('an answer that comes too late', () => {
  const held = () => {
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    server.answer = async (asked, response) => {
      begun.resolve();
      await go.promise;
      sendIcs(asked, response, icsOf('Late'));
    };
    return { begun: begun.promise, go: () => go.resolve() };
  };

  it('for a calendar that was deleted leaves nothing', async () => {
    const files = storedFiles().length;
    const id = await added('a');
    const { begun, go } = held();
    const late = events();
    await begun;
    await call('DELETE', `/calendar/sources/${id}`);
    go();
    expect(await late).toEqual({ events: [], errors: [] });
    expect(storedFiles()).toHaveLength(files);
  });

  it('for a calendar whose address has changed is dropped, and the new address is read', async () => {
    const id = await added('old');
    const { begun, go } = held();
    const late = events();
    await begun;
    await call('PATCH', `/calendar/sources/${id}`, { url: `${server.origin}/new` });
    server.answer = (asked, response) => sendIcs(asked, response, icsOf('New'));
    go();
    await late;
    expect(await titles()).toEqual(['New']);
    expect(server.seen.map(({ path }) => path)).toEqual(['/old', '/new']);
    expect(await strayFiles()).toEqual(strayBefore);
  });

  it('counts for a calendar that was only renamed', async () => {
    const id = await added('a');
    const { begun, go } = held();
    const late = events();
    await begun;
    await call('PATCH', `/calendar/sources/${id}`, { name: 'Renamed', color: '#000000' });
    go();
    expect((await late).events).toMatchObject([{ title: 'Late' }]);
  });

  it('of a process that died is requested again after its claim expires', async () => {
    const id = await added('a');
    await owner.query(
      "update calendar_sources set claim = gen_random_uuid(), claimed_until = now() + interval '1 second' where id = $1",
      [id],
    );
    expect(await titles()).toEqual(['Jour fixe']);
  });
});

it('the stored events are deleted when the sign-in changes and when the calendar is deleted', async () => {
  const files = storedFiles().length;
  const id = await added('a');
  await titles();
  expect(storedFiles()).toHaveLength(files + 1);
  await call('PATCH', `/calendar/sources/${id}`, { password: 'new', username: 'ada' });
  expect(storedFiles()).toHaveLength(files);
  await titles();
  await call('DELETE', `/calendar/sources/${id}`);
  expect(storedFiles()).toHaveLength(files);
});

it('a missing file, as after a restore without files, is read again', async () => {
  const id = await added('a');
  await titles();
  const { rows } = await owner.query('select body_path from calendar_sources where id = $1', [id]);
  await runtime.system({ requestId: 'x', ip: null, userAgent: null }).files.remove(rows[0].body_path);
  expect(await titles('from=2026-11-01T00:00:00Z&to=2026-11-20T00:00:00Z')).toEqual(['Jour fixe']);
  expect(server.seen).toHaveLength(2);
});

describe.skipIf(serviceBinary('radicale') === null)('a calendar server', () => {
  let radicale: TestRadicale;
  beforeAll(async () => {
    radicale = await startRadicale();
  });
  afterAll(() => radicale?.stop());

  const object = (title: string, day: Date) => {
    const date = day.toISOString().slice(0, 10).replaceAll('-', '');
    return [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Portal//Tests//EN',
      'BEGIN:VEVENT',
      `UID:${title}`,
      'DTSTAMP:20260101T000000Z',
      `SUMMARY:${title}`,
      `DTSTART;TZID=Europe/Berlin:${date}T090000`,
      `DTEND;TZID=Europe/Berlin:${date}T100000`,
      'RRULE:FREQ=WEEKLY;COUNT=2',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
  };
  const around = (day: Date) =>
    `from=${new Date(day.getTime() - DAY).toISOString()}&to=${new Date(day.getTime() + 20 * DAY).toISOString()}`;

  it('is found from its root, tested, read, and read again after a change', async () => {
    const { username, password, origin } = radicale;
    const work = await radicale.makeCalendar('work', 'Dienstlich');
    await radicale.makeCalendar('tasks', 'Aufgaben', 'VTODO');
    const today = new Date();
    await radicale.put(`${work}one.ics`, object('One', today));
    const form = { kind: 'caldav', url: origin, username, password };
    expect(await call('POST', '/calendar/sources/test', form)).toEqual({
      ok: true,
      error: null,
      calendars: [{ name: 'Dienstlich', url: work }],
    });
    expect(await call('POST', '/calendar/sources/test', { ...form, password: 'wrong' })).toEqual({
      ok: false,
      error: 'unauthorized',
    });
    expect(await call('POST', '/calendar/sources/test', { ...form, url: work })).toMatchObject({
      calendars: [{ name: 'Dienstlich', url: work }],
    });
    const id = await added('Radicale', form);
    expect(await titles(around(today))).toEqual(['One', 'One']);
    const [before] = (await owner.query('select * from calendar_sources where id = $1', [id])).rows;
    await later(6 * MINUTE);
    await titles(around(today));
    const [unchanged] = (await owner.query('select * from calendar_sources where id = $1', [id])).rows;
    expect(unchanged.body_path).toBe(before.body_path);
    await radicale.put(`${work}two.ics`, object('Two', new Date(today.getTime() + DAY)));
    await later(6 * MINUTE);
    expect(await titles(around(today))).toEqual(['One', 'Two', 'One', 'Two']);
    // Outside the window of the previous request.
    const past = new Date(today.getTime() - 400 * DAY);
    await radicale.put(`${work}past.ics`, object('Past', past));
    expect(await titles(around(past))).toEqual(['Past', 'Past']);
    expect(await strayFiles()).toEqual(strayBefore);
  });
});
