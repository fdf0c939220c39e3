import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isNull, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '@portal/db/embedded';
import { reminders } from '@portal/db/schema/reminders';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { NewReminder } from '@portal/domain/reminders/reminders';
import { SECOND } from '@portal/domain/time';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { digestOfDatabase, digestOfFiles } from '@portal/testing/digests';
import { programEnv } from '@portal/testing/program';
import { serviceBinary } from '@portal/testing/services';
import { requestReset } from '@portal/usecases/accounts/password-reset';
import { createReminder } from '@portal/usecases/reminders/reminders';
import { matchTenders, startDueAlerts } from '@portal/usecases/tenders/jobs';
import { hasBrowser, launchBrowser, newProfile } from '../apps/web/test/chromium.ts';
import { acquireDatabase } from './acquire-database.ts';
import { accountOf, as } from './demo/act.ts';
import { tenantOfDemo } from './demo/fill.ts';
import { expectDocumentedStatuses } from './document-calls.ts';
import { clicksOf, doStep } from './document-clicks.ts';
import { commandsOf, scripts, withoutBootstrap } from './document-commands.ts';
import { loadOrCreateKeys } from './supervisor-keys.ts';

const root = join(import.meta.dirname, '..');
const password = 'seven calm otters';
const isLinux = process.platform === 'linux';

const eventually = <T>(check: () => T | Promise<T>, timeout = 60_000): Promise<T> =>
  vi.waitFor(check, { timeout, interval: 50 });

const folder = await mkdtemp(join(tmpdir(), 'portal-test-newcomer-'));
// As root, the database runs under another account, which must be able to enter the folder.
if (process.getuid?.() === 0) await chmod(folder, 0o711);
const dataDir = join(folder, 'data');
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await stopEmbeddedPostgres(join(dataDir, 'postgres'));
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

interface Program {
  output(): string;
  /** Ends it with SIGINT and resolves to its exit code. */
  stop(): Promise<number | null>;
  ended: Promise<number | null>;
}

function start(commandLine: string, env: Record<string, string>): Program {
  const child = spawn('bash', ['--norc', '-c', `exec ${commandLine}`], {
    cwd: root,
    env: { ...programEnv, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    output: () => output,
    ended,
    stop() {
      child.kill('SIGINT');
      return ended;
    },
  };
}

/** Waits until the demo is filled and its systems are running. */
const untilServed = (demo: Program): Promise<void> =>
  eventually(() => {
    if (!demo.output().includes(' npm start')) throw new Error(`the demo is not served: ${demo.output()}`);
  }, 150_000);

const startProduct = async (env: Record<string, string>): Promise<Program & { address: string }> => {
  const program = start('node scripts/start.ts', { DATA_DIR: dataDir, PORT: '0', ...env });
  const address = await eventually(() => {
    expect(program.output()).toContain('Portal is running.');
    return /Address +(\S+)/.exec(program.output())?.[1] ?? '';
  });
  return { ...program, address };
};

/** Opens a session and returns its authenticated calls. */
async function signIn(address: string, username: string) {
  const answer = await fetch(`${address}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  expect(answer.status).toBe(200);
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return {
    async get(path: string): Promise<unknown> {
      const response = await fetch(`${address}${path}`, { headers: { cookie } });
      expect([path, response.status]).toEqual([path, 200]);
      return response.json();
    },
    post: (path: string, body: unknown) =>
      fetch(`${address}${path}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

/** Routes of every area with the demo data each must show. */
const shown: Record<string, RegExp> = {
  '/users': /"username":"jonas.beispiel".*"username":"nina.entwurf"/,
  '/groups': /"internalName":"Auszubildende".*"internalName":"IT"/,
  '/module-grants/matrix': /"invoice-mailbox":"MANAGE"/,
  '/module-categories': /Handbücher/,
  '/custom-modules': /Meine Notizen.*Wiki/,
  '/smtp-config': /"host":"127.0.0.1"/,
  '/welcome-mail/template': /Willkommen bei den Stadtwerken/,
  '/ldap/config': /"serverUrl":"ldap:/,
  '/ldap/sync/runs': /"state":"succeeded"/,
  '/auth/me': /"kind":"image"/,
  '/dashboard/tabs': /Überblick.*Technik/,
  '/dashboard/images': /wasserturm\.png/,
  '/favorites': /"title":"Wiki".*"hasUploadedIcon":true/,
  '/reminders': /Wartungsvertrag kündigen/,
  '/calendar/sources': /"name":"Stadtwerke"/,
  '/virtualization/servers': /"checkedAt":"2/,
  '/virtualization/status': /"worst":"critical"/,
  '/cloud-status/instances': /"light":"red".*|"light":"yellow"/,
  '/cloud-status/transitions': /"to":"ok".*"to":"failed"/,
  '/tenders?limit=100': /"favorite":true/,
  '/tenders/saved-searches': /"name":"Reinigung".*"instantAlert":true/,
  '/tenders/sources': /"key":"ted".*"state":"ok"/,
  '/accounting/canteen/settings': /"lohnart":"9010"/,
  '/accounting/merchandise/settings': /"format":"extf"/,
  '/accounting/merchandise/accounts': /T-Shirts/,
  ...(serviceBinary('dovecot') !== null && {
    '/invoices/mailbox': /"username":"rechnung"/,
    '/tenders/mailbox-alert': /"username":"ausschreibungen".*"lastFetchedAt":"2/,
    '/invoices': /"state":"(duplicate|new|processed|failed)"/,
  }),
};

/** The tenders have a viewer of their own, because their triage is personal. */
const viewers = ['mara.muster', 'timo.vorlage'];

/** Reads every route of the demo as its viewer. */
async function pollAll(address: string): Promise<Record<string, unknown>> {
  const views: Record<string, unknown> = {};
  for (const viewer of viewers) {
    const session = await signIn(address, viewer);
    const paths =
      viewer === 'mara.muster'
        ? Object.keys(shown)
        : Object.keys(shown)
            .filter((path) => path.startsWith('/tenders'))
            .concat('/rss-feeds');
    for (const path of paths) views[`${viewer} ${path}`] = await session.get(path);
    const tabs = (await session.get('/dashboard/tabs')) as { id: string }[];
    for (const [n, { id }] of tabs.entries()) {
      views[`${viewer} tab ${n}`] = [
        await session.get(`/dashboard/tabs/${id}/widgets`),
        await session.get(`/dashboard/tabs/${id}/layout`),
      ];
    }
  }
  return views;
}

/** Fields that change with time or while the demo is stopped: times, and the state of remote systems. */
const changing =
  /At$|^(status|servers|worst|light|state|failure|message|error|lastError|lastCheckState|consecutiveFailures|newCount|matchCount|isDue|dueLabel|emailAttempts|sentToday|today)$/;
const withoutChanging = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (changing.test(key) ? undefined : inner)));

const dueAfterMs = 2 * SECOND;
const soonDue = (title: string) => ({
  title,
  dueAt: new Date(Date.now() + dueAfterMs).toISOString(),
  emailEnabled: true,
});

const hasCurl = serviceBinary('curl') !== null;

const steps = { timeout: 240_000, shuffle: false };
// One story of one demo, which takes a minute to fill: each step begins where the one before it ended.
describe.runIf(isLinux && hasCurl)('a newcomer who follows docs/first-steps.md', steps, () => {
  const [demo = '', explore = '', own = '', token = '', copy = '', back = ''] = commandsOf('docs/first-steps.md');
  // Below the ports of embedded databases and the ephemeral ports, and apart from those of backup.test.ts
  const port = 14_000 + (process.pid % 250) * 16;
  let serving: Program;
  let product: Awaited<ReturnType<typeof startProduct>>;
  let settings: Record<string, string> = {};
  let before: Record<string, unknown> = {};
  let adminPassword = '';

  beforeAll(async () => {
    serving = start(`${withoutBootstrap(demo).trim()} --port ${port}`, { DATA_DIR: dataDir });
    await untilServed(serving);
    adminPassword = /password of admin is (\S+)/.exec(serving.output())?.[1] ?? '';
    settings = Object.fromEntries(
      [...serving.output().matchAll(/(\b[A-Z_]+)=(\S+)/g)].map(([, k, v]) => [k, v]),
    ) as Record<string, string>;
    product = await startProduct(settings);
  }, 240_000);

  it('finds something in every area', async () => {
    before = await pollAll(product.address);
    for (const [path, expected] of Object.entries(shown)) {
      const viewer = path.startsWith('/tenders') ? 'timo.vorlage' : 'mara.muster';
      expect(JSON.stringify(before[`${viewer} ${path}`]), path).toMatch(expected);
    }
    expect(JSON.stringify(before['mara.muster tab 1'])).toContain('virtualization-status');
  });

  it('gets the mails of an outage and of a reminder', async () => {
    await eventually(() => {
      expect(serving.output()).toMatch(/Mail to jonas\.beispiel@musterhausen\.example: .*Nordlicht Verlag/);
      expect(serving.output()).toMatch(/Mail to mara\.muster@musterhausen\.example: .*Muster Elektro KG/);
    });
  });

  it('gets the mail about a tender that matches a saved search', async () => {
    await letTimePass();
    await eventually(() => {
      expect(serving.output()).toMatch(
        /Mail to timo\.vorlage@musterhausen\.example: .*\n[\s\S]*?Glasreinigung der Turnhallen/,
      );
    });
  });

  it('runs the demo again, which adds nothing', async () => {
    before = withoutChanging(await pollAll(product.address)) as Record<string, unknown>;
    expect(await serving.stop()).toBe(0);
    serving = start(`${scripts['demo']} serve --port ${port}`, { DATA_DIR: dataDir });
    await untilServed(serving);
    expect(serving.output()).toMatch(/^Stadtwerke Musterhausen already existed\. Added what was missing\.\n/);
    expect(withoutChanging(await pollAll(product.address))).toEqual(before);
    const session = await signIn(product.address, 'mara.muster');
    const isCritical = async () =>
      JSON.stringify(await session.get('/virtualization/status')).includes('"state":"critical"');
    // A poll while the demo was stopped failed, and the next one is due only minutes later.
    if (!(await isCritical())) {
      await session.post('/virtualization/poll', {});
      await eventually(async () => expect(await isCritical()).toBe(true));
      // The tour polls as well, and the API allows one poll every ten seconds.
      await pause(10 * SECOND);
    }
  });

  it.runIf(hasBrowser)('sees a failing server in the browser, and adds a tile', async () => {
    const browser = await launchBrowser();
    try {
      const profile = await newProfile(browser, product.address, { language: 'en' });
      const page = await profile.newPage();
      const clicks = clicksOf('docs/first-steps.md');
      expect(clicks.length).toBeGreaterThan(10);
      for (const step of clicks) await doStep(page, step, product.address);
    } finally {
      await browser.close();
    }
  });

  it('sees a failing server, creates a tenant and a user, and follows the link in a mail', async () => {
    expect(await expectDocumentedStatuses(explore, product.address)).toContain('"state":"critical"');
    const [definitions = ''] = explore.split('\n\n');
    await expectDocumentedStatuses(
      `${definitions}\n${own.replaceAll('THE PRINTED ONE', adminPassword)}`,
      product.address,
    );
    const link = await eventually(() => {
      const found = /Mail to ada@example\.org:[\s\S]*?#token=([\w-]+)/.exec(serving.output())?.[1];
      expect(found).toBeDefined();
      return found ?? '';
    });
    await expectDocumentedStatuses(`${definitions}\n${token.replaceAll('THE TOKEN', link)}`, product.address);
  });

  it('tours every area by docs/tour.md', async () => {
    await expectDocumentedStatuses(commandsOf('docs/tour.md').join('\n'), product.address);
  });

  it('restores a backup that equals the original in every table and file and sends no old mail', async () => {
    const early = start(scripts['after-restore'] ?? '', { DATA_DIR: dataDir });
    expect(await early.ended).toBe(1);
    expect(early.output()).toContain('The API or a worker is connected to it. Stop both first');
    expect(await product.stop()).toBe(0);
    const database = () => startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
    const running = await database();
    await makeDueMails(running.appUrl);
    const digest = await digestOfDatabase(running.url);
    await running.stop();
    const files = await digestOfFiles(dataDir);
    expect(Object.keys(digest).length).toBeGreaterThan(50);
    expect(Object.keys(files).length).toBeGreaterThan(10);

    const env = { ...programEnv, DATA_DIR: dataDir };
    const here = (commands: string) =>
      withoutBootstrap(commands)
        .replaceAll(/(?<= )\.data$|(?<= )\.data(?= )/gm, dataDir)
        .replaceAll(/(?<= )backup\b/g, join(folder, 'backup'));
    const [remove = '', restore = '', afterwards = ''] = here(back).trim().split('\n');
    const run = (command: string) => promisify(execFile)('bash', ['--norc', '-ec', command], { cwd: root, env });
    await run(here(copy));
    await run(remove);
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
    await run(restore);
    const restored = await database();
    expect(await digestOfDatabase(restored.url)).toEqual(digest);
    await restored.stop();
    expect(await digestOfFiles(dataDir)).toEqual(files);

    const { stdout } = await run(afterwards);
    expect(stdout).toMatch(
      /reminders: 1 will not be sent again\n[\s\S]*mails: [1-9]\d* will not be sent again\nEvery stored secret can be read/,
    );
    const seen = serving.output().length;
    product = await startProduct(settings);
    const session = await signIn(product.address, 'mara.muster');
    expect((await session.post('/reminders', soonDue('Nach der Sicherung'))).status).toBe(201);
    await eventually(() => expect(serving.output()).toContain('Nach der Sicherung'));
    const mails = [
      ...serving
        .output()
        .slice(seen)
        .matchAll(/^Mail to .*$/gm),
    ].map(([line]) => line);
    expect(mails).toEqual([expect.stringContaining('Nach der Sicherung')]);
    expect(await product.stop()).toBe(0);
    expect(await serving.stop()).toBe(0);
  });

  /** Skips the two minutes for which a match waits, so that one mail can report several, and the minute of the schedule. */
  async function letTimePass(): Promise<void> {
    const { env, release } = await acquireDatabase({ DATA_DIR: dataDir });
    const runtime = openRuntime(readConfig({ ...env, ...settings }), {
      process: 'script',
      log: openLog('silent', 'script'),
    });
    try {
      await runtime.queues.push(matchTenders, {});
      const backdateMatches = () =>
        runtime.database.acrossTenants('a test lets time pass', (tx) =>
          tx.update(tenderMatches).set({ matchedAt: sql`now() - interval '2 minutes'` }),
        );
      await eventually(async () => expect((await backdateMatches()).rowCount).toBeGreaterThan(0));
      await runtime.queues.push(startDueAlerts, {});
    } finally {
      await runtime.close();
      await release();
    }
  }

  /** Queues a mail and makes a reminder due while no worker runs to send them. */
  async function makeDueMails(appUrl: string): Promise<void> {
    const config = readConfig({
      ...(await loadOrCreateKeys(dataDir)),
      DATABASE_URL: appUrl,
      DATA_DIR: dataDir,
      PORT: '3000',
    });
    const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
    const system = runtime.system({ requestId: 'test', ip: null, userAgent: null });
    await requestReset(system, { identifier: 'lena.probe', language: 'de' });
    const mara = await accountOf(runtime, (await tenantOfDemo(runtime)) ?? '', 'mara.muster');
    // The demo snoozed its reminders by minutes: one may become due in this step or after it
    await runtime.database.acrossTenants('a test postpones the reminders of the demo', (tx) =>
      tx
        .update(reminders)
        .set({ dueAt: sql`now() + interval '1 day'` })
        .where(isNull(reminders.emailQueuedAt)),
    );
    await as(runtime, mara, (ctx) => createReminder(ctx, NewReminder.parse(soonDue('Vor der Sicherung'))));
    await runtime.close();
    await pause(dueAfterMs);
  }
});
