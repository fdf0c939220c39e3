import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages } from '@portal/db/schema/cloud-status/outages';
import { disabledModules, moduleGrants } from '@portal/db/schema/modules';
import { mails } from '@portal/db/schema/platform/mails';
import type { CloudReading } from '@portal/domain/cloud-status/reading';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { waitingForLocks } from '@portal/testing/locks';
import { kinds } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import { claimOne } from './claims.ts';
import { deleteCloudInstance, updateCloudInstance } from './instances.ts';
import { markNotified } from './mark-notified.ts';
import { settleChecks } from './settle-checks.ts';
import { subscribe, unsubscribe } from './subscriptions.ts';

const { url, runtime, make, signedIn } = await testRuntime({ DATABASE_POOL_MAX: '12' });

const servers: TestSmtpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function startServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

const reached: CloudReading = {
  isReached: true,
  isMaintenance: false,
  needsDbUpgrade: false,
  version: null,
  message: null,
};
const failedBy = (failure: 'server' | 'netz'): CloudReading => ({ isReached: false, failure, message: 'It failed.' });
const failed = failedBy('server');

/** A user who may use the module by a personal grant. */
async function watcher(tenantId?: string): Promise<UserContext> {
  const user = await make.user(tenantId === undefined ? {} : { tenantId });
  const ctx = await signedIn(user);
  await ctx.tx((tx) =>
    tx.insert(moduleGrants).values({
      id: newId(),
      tenantId: ctx.tenantId,
      userId: user.id,
      moduleKey: 'cloud-status',
      level: 'USE',
    }),
  );
  return ctx;
}

async function check(ctx: UserContext, id: string, ...readings: CloudReading[]): Promise<void> {
  for (const reading of readings) {
    const claim = await claimOne(ctx, id);
    if (!claim) throw new Error('another check holds the lease');
    await settleChecks(ctx, [{ claim, reading }]);
  }
}

const deliver = ({ tenantId }: { tenantId: string }, server: TestSmtpServer) =>
  deliverDueMails(
    {
      ...runtime.tenant(jobOrigin(), tenantId),
      config: testConfig(url, {
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: `${server.port}`,
        SMTP_SECURITY: 'none',
        SMTP_FROM: 'p@example.org',
      }),
    },
    { signal: new AbortController().signal, kinds },
  );

const letPausePass = ({ tx }: UserContext) =>
  tx((db) =>
    db
      .update(mails)
      .set({ dueAt: sql`now()` })
      .where(eq(mails.state, 'queued')),
  );

/** Lets the leases of a dead worker expire. */
const letLeasesEnd = ({ tx }: UserContext) =>
  tx((db) =>
    db
      .update(mails)
      .set({ dueAt: sql`now()` })
      .where(eq(mails.state, 'sending')),
  );

const outbox = ({ tenantId }: { tenantId: string }) =>
  runtime.database.inTenant(tenantId).read((db) =>
    db
      .select({
        kind: mails.kind,
        state: mails.state,
        failure: mails.failure,
        waitSec: sql<number>`extract(epoch from ${mails.dueAt} - now())::int`,
      })
      .from(mails)
      .orderBy(mails.createdAt, mails.id),
  );
const states = async (ctx: UserContext) => (await outbox(ctx)).map(({ kind, state }) => `${kind.slice(13)} ${state}`);

async function watched(overrides: Parameters<typeof make.cloudInstance>[1] = {}) {
  const ctx = await watcher();
  const { id } = await make.cloudInstance(ctx.tenantId, { customerName: 'Stadtwerke Nordheim', ...overrides });
  await subscribe(ctx, id);
  return { ctx, id };
}

describe('an outage', () => {
  it('sends one mail when it begins and one when it ends, in German, as HTML and as text', async () => {
    const server = await startServer();
    const { ctx, id } = await watched({ statusUrl: 'https://cloud.nordheim.example' });
    await check(ctx, id, reached, failed, failed, failed);
    await deliver(ctx, server);
    await check(ctx, id, failed);
    await ctx.tx((tx) => tx.update(cloudOutages).set({ failingSince: new Date(Date.now() - 7_530_000) }));
    await check(ctx, id, reached, reached);
    await deliver(ctx, server);
    await deliver(ctx, server);
    const [down, up, ...others] = server.messages;
    expect(others).toEqual([]);
    expect(down).toMatchObject({ envelopeTo: [ctx.account.email], subject: 'Cloud gestört: Stadtwerke Nordheim' });
    expect(up).toMatchObject({ envelopeTo: [ctx.account.email], subject: 'Cloud wieder da: Stadtwerke Nordheim' });
    for (const form of [down?.text, down?.html]) {
      expect(form).toContain('https://cloud.nordheim.example');
      expect(form).toContain('Der Server der Cloud meldet einen Fehler.');
    }
    for (const form of [up?.text, up?.html]) expect(form).toContain('2 Stunden, 5 Minuten');
    expect(down?.messageId).not.toBe(up?.messageId);
  });

  it('has its mails in one thread, separate for each outage and each tenant', async () => {
    const server = await startServer();
    for (const { ctx, id } of [await watched(), await watched()]) {
      await check(ctx, id, failed, failed);
      await deliver(ctx, server);
      await check(ctx, id, reached);
      await deliver(ctx, server);
    }
    const [first, itsEnd, second, theEndOfThat] = server.messages.map(({ headers }) => headers.get('references'));
    expect([itsEnd, theEndOfThat]).toEqual([first, second]);
    expect(first).toMatch(/^<[0-9a-f]{64}@[^>]+>$/);
    expect(second).not.toBe(first);
  });

  it('sends no mail after one failed check, or without subscribers', async () => {
    const { ctx, id } = await watched();
    await check(ctx, id, failed, reached, failed, reached);
    await unsubscribe(ctx, id);
    await check(ctx, id, failed, failed);
    expect(await outbox(ctx)).toEqual([]);
  });

  it('is mailed to every subscriber, each outage separately', async () => {
    const server = await startServer();
    const { ctx, id } = await watched();
    const colleague = await watcher(ctx.tenantId);
    await subscribe(colleague, id);
    for (let n = 0; n < 2; n += 1) {
      await check(ctx, id, failed, failed);
      await deliver(ctx, server);
      await check(ctx, id, reached);
      await deliver(ctx, server);
    }
    for (const { account } of [ctx, colleague])
      expect(
        server.messages
          .filter(({ envelopeTo }) => envelopeTo[0] === account.email)
          .map(({ subject }) => subject.slice(0, 9)),
      ).toEqual(['Cloud ges', 'Cloud wie', 'Cloud ges', 'Cloud wie']);
    expect(new Set(server.messages.map(({ messageId }) => messageId)).size).toBe(8);
  });

  it('that ends before its mail is sent sends no mail at all', async () => {
    const server = await startServer();
    const { ctx, id } = await watched();
    await check(ctx, id, failed, failed, reached);
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
    expect(await states(ctx)).toEqual(['failed skipped']);
  });

  it('that ends while its mail is on the wire sends a recovery mail, too', async () => {
    const { ctx, id } = await watched();
    let isFirst = true;
    const server = await startServer({
      onMessage: async () => {
        if (isFirst) await check(ctx, id, reached);
        isFirst = false;
      },
    });
    await check(ctx, id, failed, failed);
    await deliver(ctx, server);
    await deliver(ctx, server);
    expect(server.messages.map(({ subject }) => subject.slice(0, 9))).toEqual(['Cloud ges', 'Cloud wie']);
  });

  it('that ends while it is unknown whether its mail arrived sends a recovery mail', async () => {
    const { ctx, id } = await watched();
    await check(ctx, id, failed, failed);
    // The mail server has the mail; the worker dies before it gets the answer.
    const silent = await startServer({ failures: ({ at }) => (at === 'message' ? 'silence' : undefined) });
    const dying = deliver(ctx, silent);
    await silent.waitFor(() => true);
    await check(ctx, id, reached);
    await letLeasesEnd(ctx);
    const server = await startServer();
    await deliver(ctx, server);
    await deliver(ctx, server);
    expect(server.messages.map(({ subject }) => subject.slice(0, 9))).toEqual(['Cloud wie']);
    expect(await states(ctx)).toEqual(['failed skipped', 'recovered sent']);
    await silent.stop();
    await dying;
    expect(await states(ctx)).toEqual(['failed skipped', 'recovered sent']);
  });

  it('that ends after a worker died before sending its mail sends no mail at all', async () => {
    const { ctx, id } = await watched();
    await check(ctx, id, failed, failed);
    await ctx.tx((tx) => tx.update(mails).set({ state: 'sending', leaseId: newId() }));
    await check(ctx, id, reached);
    const server = await startServer();
    await deliver(ctx, server);
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
    expect(await states(ctx)).toEqual(['failed skipped']);
  });

  it('that ends while its mail is being settled sends at most one recovery mail, in either order', async () => {
    const server = await startServer();
    for (const isSettledFirst of [true, false]) {
      const { ctx, id } = await watched();
      await check(ctx, id, failed, failed);
      const isHeld = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const holding: UserContext['tx'] = (work) =>
        ctx.tx(async (tx) => {
          const result = await work(tx);
          isHeld.resolve();
          await release.promise;
          return result;
        });
      const end = (context: UserContext) => check(context, id, reached);
      if (isSettledFirst) {
        // Holds the lock of the notices like a settlement that is about to commit.
        const note = ctx.tx(async (tx) => {
          const [notice] = await tx
            .update(cloudOutageNotices)
            .set({ mailedWith: cloudOutageNotices.outageId })
            .returning();
          if (!notice) throw new Error('there is no notice');
          await markNotified(tx, { tenantId: ctx.tenantId, userId: ctx.actor.id, outageId: notice.outageId });
          isHeld.resolve();
          await release.promise;
        });
        await isHeld.promise;
        const ending = end(ctx);
        await expect.poll(() => waitingForLocks(runtime.database), { timeout: 10_000 }).toBe(1);
        release.resolve();
        await Promise.all([note, ending]);
        await ctx.tx((tx) => tx.update(mails).set({ state: 'sent' }).where(eq(mails.kind, 'cloud-status/failed')));
      } else {
        const claim = await claimOne(ctx, id);
        if (!claim) throw new Error('another check holds the lease');
        const ending = settleChecks({ ...ctx, tx: holding }, [{ claim, reading: reached }]);
        await isHeld.promise;
        const delivering = deliver(ctx, server);
        await expect.poll(() => waitingForLocks(runtime.database), { timeout: 10_000 }).toBe(1);
        release.resolve();
        await Promise.all([ending, delivering]);
      }
      const kindsLeft = (await outbox(ctx)).map(({ kind }) => kind);
      // Settled first: the user was notified, so a recovery mail follows. Ended first: the failure mail is pointless.
      expect(kindsLeft).toEqual(
        isSettledFirst ? ['cloud-status/failed', 'cloud-status/recovered'] : ['cloud-status/failed'],
      );
    }
  });

  it('sends recovery mails only to users who got the failure mail', async () => {
    const { ctx, id } = await watched();
    const colleague = await watcher(ctx.tenantId);
    await subscribe(colleague, id);
    const server = await startServer({
      failures: (step) =>
        step.at === 'recipient' && step.address === colleague.account.email ? { code: 550, text: 'No' } : undefined,
    });
    await check(ctx, id, failed, failed);
    await deliver(ctx, server);
    await check(ctx, id, reached);
    await deliver(ctx, server);
    expect(server.messages.map(({ envelopeTo }) => envelopeTo[0])).toEqual([ctx.account.email, ctx.account.email]);
  });

  it('mails at once, and retries after half a minute and after two minutes', async () => {
    const server = await startServer({
      failures: ({ at }) => (at === 'recipient' ? { code: 451, text: 'Later' } : undefined),
    });
    const { ctx, id } = await watched();
    await check(ctx, id, failed, failed);
    const seen: unknown[] = [];
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await deliver(ctx, server);
      const [mail] = await outbox(ctx);
      seen.push([mail?.state, mail?.state === 'queued' ? Math.round((mail?.waitSec ?? 0) / 15) * 15 : 0]);
      await letPausePass(ctx);
    }
    expect(seen).toEqual([
      ['queued', 30],
      ['queued', 120],
      ['failed', 0],
      ['failed', 0],
    ]);
    await check(ctx, id, reached);
    expect(await states(ctx)).toEqual(['failed failed']);
  });
});

describe('a queued mail is not sent', () => {
  const across = runtime.database.acrossTenants;
  it.each<[string, (ctx: UserContext, id: string) => Promise<unknown>]>([
    ['the user has unsubscribed', (ctx, id) => unsubscribe(ctx, id)],
    ['the grant is gone', ({ tx }) => tx((db) => db.delete(moduleGrants))],
    [
      'the module is off',
      ({ tx, tenantId }) => tx((db) => db.insert(disabledModules).values({ tenantId, moduleKey: 'cloud-status' })),
    ],
    [
      'the account is inactive',
      ({ tx, actor }) => tx((db) => db.update(users).set({ isActive: false }).where(eq(users.id, actor.id))),
    ],
    [
      'the account is gone',
      ({ actor }) => across('a test deletes an account', (tx) => tx.delete(users).where(eq(users.id, actor.id))),
    ],
    [
      'the account has no address',
      ({ tx, actor }) => tx((db) => db.update(users).set({ email: null }).where(eq(users.id, actor.id))),
    ],
    ['the instance is switched off', async (ctx, id) => updateCloudInstance(ctx, id, { isActive: false })],
    ['the instance is gone', (ctx, id) => deleteCloudInstance(ctx, id)],
  ])('if %s by then', async (_what, change) => {
    const server = await startServer();
    const { ctx, id } = await watched();
    await check(ctx, id, failed, failed);
    await change(ctx, id);
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
  });

  it('about a recovery either', async () => {
    const server = await startServer();
    for (const change of [
      (ctx: UserContext, id: string) => unsubscribe(ctx, id),
      ({ tx }: UserContext) => tx((db) => db.delete(moduleGrants)),
      (ctx: UserContext, id: string) => deleteCloudInstance(ctx, id),
    ]) {
      const { ctx, id } = await watched();
      await check(ctx, id, failed, failed);
      await deliver(ctx, server);
      await check(ctx, id, reached);
      await change(ctx, id);
      await deliver(ctx, server);
      expect(server.messages.splice(0)).toHaveLength(1);
    }
  });
});

describe('many outages at once', () => {
  async function many(count: number, watchers = 1) {
    const ctx = await watcher();
    const all = [ctx];
    while (all.length < watchers) all.push(await watcher(ctx.tenantId));
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { id } = await make.cloudInstance(ctx.tenantId, { customerName: `Kunde ${String(n).padStart(2, '0')}` });
      for (const each of all) await subscribe(each, id);
      ids.push(id);
    }
    return { ctx, all, ids };
  }
  const failAll = async (ctx: UserContext, ids: string[], failure: 'netz' | 'server' = 'netz') => {
    for (const id of ids) await check(ctx, id, failedBy(failure), failedBy(failure));
  };
  const subjects = ({ messages }: TestSmtpServer) => messages.map(({ subject }) => subject).toSorted();

  it('send one mail to each subscriber, and change the states as usual', async () => {
    const server = await startServer();
    const { ctx, all, ids } = await many(25, 2);
    const fine = ids.splice(20);
    for (const id of fine) await check(ctx, id, reached);
    await failAll(ctx, ids);
    await deliver(ctx, server);
    expect(server.messages).toEqual([]);
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['20 Clouds nicht zu erreichen', '20 Clouds nicht zu erreichen']);
    expect(server.messages.map(({ envelopeTo }) => envelopeTo[0]).toSorted()).toEqual(
      all.map(({ account }) => account.email).toSorted(),
    );
    for (const { text, html } of server.messages)
      for (let n = 0; n < 20; n += 1) {
        const name = `Kunde ${String(n).padStart(2, '0')}`;
        expect(text).toContain(name);
        expect(html).toContain(name);
      }
    const reported = await ctx.read((db) => db.$count(cloudInstances, eq(cloudInstances.reportedState, 'failed')));
    expect(reported).toBe(20);
    // Each recovery has its own mail.
    for (const id of ids.slice(0, 2)) await check(ctx, id, reached);
    await deliver(ctx, server);
    expect(subjects(server).filter((subject) => subject.startsWith('Cloud wieder da'))).toHaveLength(4);
  });

  it.each<[string, number, number, 'netz' | 'server']>([
    ['only nineteen', 19, 0, 'netz'],
    ['of another class', 20, 0, 'server'],
    ['among too many healthy clouds', 20, 6, 'netz'],
  ])('%s send a mail each', async (_what, failing, well, failure) => {
    const server = await startServer();
    const { ctx, ids } = await many(failing + well);
    for (const id of ids.slice(failing)) await check(ctx, id, reached);
    await failAll(ctx, ids.slice(0, failing), failure);
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(failing);
    expect(server.messages.every(({ subject }) => subject.startsWith('Cloud gestört: Kunde'))).toBe(true);
  });

  it('that began long ago are not counted', async () => {
    const server = await startServer();
    const { ctx, ids } = await many(40);
    const long = sql`now() - interval '30 minutes'`;
    // Ten have been down for half an hour, twenty are healthy, and ten fail now.
    await failAll(ctx, ids.slice(0, 10));
    await ctx.tx((tx) =>
      tx.update(cloudInstances).set({ failingSince: long }).where(eq(cloudInstances.failure, 'netz')),
    );
    for (const id of ids.slice(20)) await check(ctx, id, reached);
    await failAll(ctx, ids.slice(10, 20));
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(server.messages).toHaveLength(20);
  });

  it('are compared only with recently checked instances', async () => {
    const server = await startServer();
    const { ctx, ids } = await many(40);
    for (const id of ids.slice(20)) await check(ctx, id, reached);
    await ctx.tx((tx) => tx.update(cloudInstances).set({ checkedAt: sql`now() - interval '30 minutes'` }));
    await failAll(ctx, ids.slice(0, 20));
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['20 Clouds nicht zu erreichen']);
  });

  it('report only subscribed instances, and follow each other ten minutes apart', async () => {
    const server = await startServer();
    const { ctx, ids } = await many(30);
    const colleague = await watcher(ctx.tenantId);
    for (const id of ids.slice(0, 3)) await subscribe(colleague, id);
    await failAll(ctx, ids.slice(0, 25));
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['25 Clouds nicht zu erreichen', '3 Clouds nicht zu erreichen']);
    await failAll(ctx, ids.slice(25));
    const waits = (await outbox(ctx)).filter(({ state }) => state === 'queued').map(({ waitSec }) => waitSec);
    expect(waits).toHaveLength(5);
    for (const wait of waits) {
      expect(wait).toBeGreaterThan(560);
      expect(wait).toBeLessThanOrEqual(600);
    }
    server.messages.length = 0;
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['5 Clouds nicht zu erreichen']);
  });

  it('whose mail is refused temporarily are reported together again, without those that have ended', async () => {
    let isBusy = true;
    const server = await startServer({
      failures: ({ at }) => (isBusy && at === 'recipient' ? { code: 451, text: 'Later' } : undefined),
    });
    const { ctx, ids } = await many(22);
    await failAll(ctx, ids);
    await letPausePass(ctx);
    await deliver(ctx, server);
    isBusy = false;
    await check(ctx, ids[0] ?? '', reached);
    await letPausePass(ctx);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['21 Clouds nicht zu erreichen']);
    await check(ctx, ids[1] ?? '', reached);
    await deliver(ctx, server);
    expect(subjects(server)).toEqual(['21 Clouds nicht zu erreichen', 'Cloud wieder da: Kunde 01']);
  });
});
