// A week of 10 calendars of 2,000 events, 200 of them series, against node-ical in one thread, and the same week again against a bare query
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expandRecurringEvent, sync } from 'node-ical';
import { calendarSources } from '@portal/db/schema/calendar';
import type { CalendarEvents } from '@portal/domain/calendar/events';
import { newId } from '@portal/domain/ids';
import { DAY } from '@portal/domain/time';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { storedSecret, targetOf } from '@portal/usecases/calendar/stored-source';
import {
  alternate,
  benchDatabase,
  benchSettings,
  median,
  percentile,
  report,
  startServer,
  stopAll,
} from './measure.ts';

const eventCount = Number(process.argv[2] ?? 2_000);
const sourceCount = 10;
const rounds = 5;
const monday = new Date('2026-11-16T00:00:00Z');

/** A calendar as Exchange publishes one: every tenth event is a series, the others are spread over two years. */
function icsOf(source: number): string {
  const events = Array.from({ length: eventCount }, (_, n) => {
    const at = new Date(Date.UTC(2025, 0, 1) + ((n * 37 + source) % 700) * DAY);
    const date = at.toISOString().slice(0, 10).replaceAll('-', '');
    const hour = String(8 + (n % 9)).padStart(2, '0');
    const zone = 'TZID=W. Europe Standard Time';
    const series = [
      `RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,${['TU', 'WE', 'TH', 'FR'][n % 4]};WKST=MO`,
      `EXDATE;${zone}:20260302T${hour}0000`,
    ];
    return [
      'BEGIN:VEVENT',
      'DESCRIPTION:What this is about\\, in some words\\, so that the line is folded as',
      '  lines of calendars are.\\n\\nBesides\\, there is a link to a meeting.',
      `UID:${source}-${n}@example.org`,
      `SUMMARY:Meeting ${n}`,
      `DTSTART;${zone}:${date}T${hour}0000`,
      `DTEND;${zone}:${date}T${hour}3000`,
      ...(n % 10 === 0 ? series : []),
      'CLASS:PUBLIC',
      'PRIORITY:5',
      'DTSTAMP:20261101T080000Z',
      'TRANSP:OPAQUE',
      'STATUS:CONFIRMED',
      'SEQUENCE:0',
      `LOCATION:Room ${n % 20}`,
      'X-MICROSOFT-CDO-BUSYSTATUS:BUSY',
      'END:VEVENT',
    ].join('\r\n');
  });
  return [
    'BEGIN:VCALENDAR',
    'METHOD:PUBLISH',
    'VERSION:2.0',
    'PRODID:-//Bench//EN',
    ...events,
    'END:VCALENDAR',
    '',
  ].join('\r\n');
}

/** What the library alone takes for the same week. */
function bare(files: string[], from: Date, to: Date): number {
  let found = 0;
  for (const file of files) {
    for (const event of Object.values(sync.parseICS(file))) {
      if (event?.type === 'VEVENT') found += expandRecurringEvent(event, { from, to, expandOngoing: true }).length;
    }
  }
  return found;
}

async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const config = readConfig(settings);
  const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
  const make = builders(runtime.database);
  const user = await make.user({ role: 'ADMIN' });
  const session = await make.session(user);
  const token = openSessionTokens(config.sessionKeys).issue({
    sub: user.id,
    tid: user.tenantId,
    sid: session.id,
    ver: 1,
  });
  const headers = { cookie: `portal_session=${token}` };

  const files = Array.from({ length: sourceCount }, (_, source) => icsOf(source));
  const ctx = runtime.tenant({ requestId: 'bench', ip: null, userAgent: null }, user.tenantId);
  for (const [n, file] of files.entries()) {
    const id = newId();
    const origin = 'https://calendar.example.org';
    const target = { origin, username: null };
    const { path } = await ctx.files.write('calendars', newId(), 'ics', Buffer.from(file), { maxBytes: 2 ** 30 });
    const row = {
      id,
      tenantId: user.tenantId,
      userId: user.id,
      kind: 'ics' as const,
      name: `Calendar ${n}`,
      color: '#3366cc',
      isActive: true,
      origin,
      bodyPath: path,
      // Fresh for as long as this takes.
      checkedAt: new Date(Date.now() + DAY),
      url: storedSecret(ctx, id, 'url', undefined).sealedFor(targetOf('url', target), `${origin}/${n}.ics`) ?? '',
    };
    await ctx.tx((tx) => tx.insert(calendarSources).values(row));
  }
  await runtime.close();

  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  let asked = 0;
  /** A week nobody asked for before, and so nothing of it is kept. */
  const nextWeek = () => {
    asked += 1;
    const from = new Date(monday.getTime() + asked);
    return { from, to: new Date(from.getTime() + 7 * DAY) };
  };
  const week = async (server: string, { from, to }: { from: Date; to: Date }): Promise<string> => {
    const answer = await fetch(`${server}/calendar/events?from=${from.toISOString()}&to=${to.toISOString()}`, {
      headers,
    });
    if (answer.status !== 200) throw new Error(await answer.text());
    return answer.text();
  };

  // How long the API keeps a caller waiting who asks for nothing is how long its event loop stands still.
  const waits: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      waits.push(await timed(() => fetch(`${api.url}/health`).then((answer) => answer.text())));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const answer = await week(api.url, nextWeek());
  const { events, errors } = JSON.parse(answer) as CalendarEvents;
  const byLibrary = bare(files, monday, new Date(monday.getTime() + 7 * DAY));
  console.log(`${events.length} events in a week, ${byLibrary} by node-ical, ${answer.length} bytes`);
  if (errors.length > 0 || events.length === 0) throw new Error('the calendars were not read');
  const ours: number[] = [];
  for (let n = 0; n < rounds; n += 1) ours.push(await timed(() => week(api.url, nextWeek())));
  isOver = true;
  await watching;
  const limit: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const { from, to } = nextWeek();
    limit.push(await timed(() => bare(files, from, to)));
  }
  report('a week nobody asked for before', {
    ours: median(ours),
    limit: median(limit),
    unit: 'ms',
    goal: 'at most 1.5',
  });
  console.log(`what the API kept others waiting, p99: ${percentile(waits, 0.99).toFixed(1)} ms (at most 50)`);

  const kept = nextWeek();
  const answerFile = join(folder, 'answer.json');
  await writeFile(answerFile, await week(api.url, kept));
  const bareEnv = { ...settings, BENCH_USER: user.id, BENCH_ANSWER: answerFile };
  const bareServer = await startServer('bench/bare-calendar.ts', bareEnv, join(folder, 'bare.log'));
  const measured = {
    ours: () => timed(() => week(api.url, kept)),
    limit: () => timed(() => week(bareServer.url, kept)),
  };
  await alternate(20, measured);
  const times = await alternate(100, measured);
  report('the same week again', {
    ours: median(times.ours),
    limit: median(times.limit),
    unit: 'ms',
    goal: 'at most 3.0',
  });
} finally {
  await stopAll();
}
