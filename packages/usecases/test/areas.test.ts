import { globSync, readFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { inArray, sql } from 'drizzle-orm';
import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '@portal/domain/ids';
import { Secret } from '@portal/domain/secret';
import { p } from '@portal/mail/blocks';
import { Sender } from '@portal/mail/frame';
import { template } from '@portal/mail/template';
import { oneClickUnsubscribe } from '@portal/mail/unsubscribe';
import { type Area, concurrencyOf, jobsOf, mailsOf } from '@portal/platform/area';
import { auditLog } from '@portal/platform/audit';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { handle } from '@portal/platform/jobs/handler';
import { type AnyJob, definePlatformJob, defineTenantJob } from '@portal/platform/jobs/job';
import { schedule } from '@portal/platform/jobs/schedules';
import { defineMail } from '@portal/platform/outbox/mail';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { removeExpiredRows } from '@portal/platform/retention';
import { rotateSecrets } from '@portal/platform/secrets/rotate-secrets';
import { openSecrets } from '@portal/platform/secrets/sealed';
import { testRuntime } from '@portal/testing/runtime';
import { startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { startTestWorker, type TestWorker } from '@portal/testing/worker';
import { areas } from '../src/areas.ts';
import { handlersFor } from '../src/handlers.ts';
import { checkModuleAccess } from '../src/modules/module-access.ts';

const packages = join(import.meta.dirname, '../..');
const sources = globSync('{platform,usecases}/src/**/*.ts', { cwd: packages }).filter(
  (path) => !path.endsWith('.test.ts'),
);
const textOf = (path: string): string => readFileSync(join(packages, path), 'utf8');

describe('the areas of the product', () => {
  it('have unique names, and so have their jobs and mails', () => {
    const names = areas.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    const jobs = jobsOf(areas).map(({ name }) => name);
    expect(jobs).toEqual([...new Set(jobs)]);
    expect(() => mailsOf(areas)).not.toThrow();
  });

  it('set the concurrency of a queue once', () => {
    expect(() => concurrencyOf(areas)).not.toThrow();
    const one = { name: 'one', concurrency: { mail: 20 } };
    expect(concurrencyOf([...areas, one])).toMatchObject({ mail: 20 });
    expect(() => concurrencyOf([one, { ...one, name: 'other' }])).toThrow('two areas set the concurrency of one queue');
  });

  it('leave a tenant a quarter of the places at most in every queue that calls the servers of strangers', () => {
    const places = concurrencyOf(areas);
    for (const queue of ['mailboxes', 'feeds', 'invoices', 'cloud-status', 'icons', 'directory'] as const)
      expect([queue, places[queue]]).toEqual([queue, { places: expect.any(Number), perTenant: expect.any(Number) }]);
    for (const one of Object.values(places))
      if (typeof one === 'object') expect(one.perTenant).toBeLessThanOrEqual(one.places / 4);
  });

  it('schedule every job of the queue `upkeep` for the whole platform, with one place each', () => {
    const upkeep = jobsOf(areas).filter(({ queue }) => queue === 'upkeep');
    expect(upkeep.map(({ name }) => name)).toContain('operations.sweep-runs');
    expect(concurrencyOf(areas).upkeep).toBe(upkeep.length);
    const scheduled = new Set(areas.flatMap(({ schedules = [] }) => schedules.map(({ job }) => job)));
    for (const job of upkeep) expect([job.name, job.scope, scheduled.has(job)]).toEqual([job.name, 'platform', true]);
  });

  it('declare every job, and each has a handler', async () => {
    const contracts = await Promise.all(
      sources
        .filter((path) => path.endsWith('/jobs.ts'))
        .map(async (path) => Object.values((await import(join(packages, path))) as Record<string, AnyJob>)),
    );
    expect(contracts.flat().length).toBeGreaterThan(5);
    const namesOf = (jobs: AnyJob[]) => jobs.map(({ name }) => name).toSorted();
    expect(namesOf(jobsOf(areas))).toEqual(namesOf(contracts.flat()));
    expect(namesOf(handlersFor(areas).map(({ job }) => job))).toEqual(namesOf(contracts.flat()));
  });

  it('declare every kind of mail', () => {
    const defined = sources.flatMap((path) =>
      [...textOf(path).matchAll(/defineMail\(\{\s*kind: '([^']+)'/g)].map(([, kind]) => kind),
    );
    expect([...mailsOf(areas).keys()].toSorted()).toEqual(defined.toSorted());
  });

  it('own every folder that stores files', () => {
    const written = sources.flatMap((path) =>
      [...textOf(path).matchAll(/files\.(?:write|receive)\(\s*'([^']+)'/g)].map(([, folder]) => folder),
    );
    const owned = areas.flatMap(({ files = [] }) => files.map(({ folder }) => folder));
    expect(owned.toSorted()).toEqual([...new Set(written)].toSorted());
  });
});

const toys = pgTable('toys', {
  id: uuid().primaryKey(),
  tenantId: uuid('tenant_id').notNull(),
  picture: text(),
  password: text(),
  madeAt: timestamp('made_at', { withTimezone: true }).notNull().defaultNow(),
});
const { auditActions, recordAudit } = auditLog('toys.wind_up');

const windUp = defineTenantJob({
  name: 'toys.wind-up',
  queue: 'upkeep',
  payload: z.object({ tenantId: z.uuid(), userId: z.uuid(), owner: z.string().nullable().default(null) }),
  attempts: 1,
  backoffMs: 100,
  key: ({ userId }) => userId,
  timeoutMs: 10_000,
});
const look = definePlatformJob({
  name: 'toys.look',
  queue: 'upkeep',
  payload: z.object({}),
  attempts: 1,
  backoffMs: 100,
  key: () => 'all',
  timeoutMs: 10_000,
});
const toyMail = defineMail({
  kind: 'toys/wound-up',
  template: template({
    format: 'text',
    data: Sender.extend({ displayName: z.string(), unsubscribeUrl: z.string(), owner: z.string().nullable() }),
    headers: oneClickUnsubscribe,
    replyTo: ({ owner }) => owner,
    wording: { de: { subject: () => 'Aufgezogen', body: ({ displayName }) => [p`Hallo ${displayName}, es läuft.`] } },
  }),
  data: z.object({ owner: z.string().nullable().default(null) }),
  isAwaited: false,
  async prepare(ctx, { recipient }, { owner }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'calendar', level: 'USE' });
    return {
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      displayName: recipient.displayName,
      unsubscribeUrl: `${ctx.config.http.publicUrl}/unsubscribe/${recipient.id}`,
      owner,
    };
  },
  async remember(tx, attempts) {
    await tx
      .insert(toys)
      .values(
        attempts.map(({ tenantId, userId, outcome }) => ({ id: newId(), tenantId, picture: `${userId} ${outcome}` })),
      );
  },
});
let looks = 0;

/** A new area as a newcomer would write it: a table and this declaration. The rest of the product does not know it. */
const toyArea: Area = {
  name: 'toys',
  tags: { toys: 'Things to play with.' },
  jobs: [windUp, look],
  schedules: [schedule(look, {}, { everyMs: 500 })],
  mails: [toyMail],
  retention: [{ what: 'toys', table: toys, isOver: sql`${toys.madeAt} < now() - interval '1 day'` }],
  sealedColumns: [{ table: toys, column: toys.password, boundTo: toys.id, context: (id) => `toys.password:${id}` }],
  files: [{ folder: 'toy-pictures', table: toys, path: toys.picture }],
  auditActions,
};
const toyHandlers = [
  handle(windUp, async (ctx, { tenantId, userId, owner }) => {
    await ctx.tx(async (tx) => {
      await recordAudit(tx, { ip: null }, { action: 'toys.wind_up', tenantId, summary: 'Wound up a toy.' });
      await queueMail(tx, toyMail, { tenantId, key: newId(), userId, data: { owner } });
    });
    await nudgeMails(ctx, tenantId);
  }),
  handle(look, async () => void (looks += 1)),
];

describe('a new area', async () => {
  const withToys = [...areas, toyArea];
  const started = await testRuntime();
  let smtp: TestSmtpServer;
  let worker: TestWorker;
  beforeAll(async () => {
    const owner = new Client({ connectionString: started.ownerUrl });
    await owner.connect();
    await owner.query(`
      create table toys (id uuid primary key, tenant_id uuid not null, picture text, password text, made_at timestamptz not null default now());
      grant select, insert, update, delete on toys to portal_app, portal_across`);
    await owner.end();
    smtp = await startSmtpServer();
    worker = startTestWorker(
      started.url,
      {
        handlers: [...toyHandlers, ...handlersFor(withToys)],
        schedules: withToys.flatMap(({ schedules = [] }) => schedules),
      },
      { env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: `${smtp.port}`, SMTP_SECURITY: 'none', SMTP_FROM: 'p@example.org' } },
    );
  });
  afterAll(async () => {
    await worker.stop();
    await smtp.stop();
  });

  it('gets its jobs and schedules run and its mails sent', { timeout: 60_000 }, async () => {
    const user = await started.make.user({ role: 'ADMIN' });
    await worker.runtime.queues.push(windUp, { tenantId: user.tenantId, userId: user.id, owner: null });
    await vi.waitFor(() => expect(smtp.messages.map(({ subject }) => subject)).toContain('Aufgezogen'), 30_000);
    await vi.waitFor(() => expect(looks).toBeGreaterThan(0), 30_000);
  });

  it(
    'sets headers and reply address of its mails, and learns the outcome of each mail',
    { timeout: 60_000 },
    async () => {
      const owner = 'owner@example.org';
      const [allowed, ungranted, attacked] = [
        await started.make.user({ role: 'ADMIN' }),
        await started.make.user(),
        await started.make.user({ role: 'ADMIN' }),
      ];
      for (const [{ tenantId, id: userId }, replyTo] of [
        [allowed, owner],
        [ungranted, owner],
        [attacked, `${owner}\r\nBcc: x@example.org`],
      ] as const)
        await worker.runtime.queues.push(windUp, { tenantId, userId, owner: replyTo });
      const outcomes = async () =>
        (
          await started.system().acrossTenants('a test reads toys', (tx) =>
            tx
              .select({ picture: toys.picture })
              .from(toys)
              .where(
                inArray(
                  toys.tenantId,
                  [allowed, ungranted, attacked].map(({ tenantId }) => tenantId),
                ),
              ),
          )
        )
          .map(({ picture }) => picture)
          .toSorted();
      await expect
        .poll(outcomes, { timeout: 30_000 })
        .toEqual([`${allowed.id} sent`, `${ungranted.id} dropped`, `${attacked.id} failed`].toSorted());
      const { headers } = await smtp.waitFor(({ envelopeTo }) => envelopeTo[0] === allowed.email);
      expect(headers.get('reply-to')).toBe(owner);
      expect(headers.get('list-unsubscribe')).toBe(`<http://127.0.0.1:3000/unsubscribe/${allowed.id}>`);
      expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
      const written = smtp.messages.flatMap(({ envelopeTo }) => envelopeTo);
      for (const { email } of [ungranted, attacked]) expect(written).not.toContain(email);
    },
  );

  it('gets its old rows removed, its secrets re-encrypted and its orphaned files deleted', async () => {
    const system = started.system();
    const { tenantId } = await started.make.user();
    const [old, current] = [openSecrets([key('old', 1)]), openSecrets([key('new', 2), key('old', 1)])];
    const [recent, expired] = [newId(), newId()];
    const file = await system.files.write('toy-pictures', newId(), 'png', Buffer.from('x'), { maxBytes: 10 });
    await system.acrossTenants('a test makes toys', (tx) =>
      tx.insert(toys).values([
        { id: recent, tenantId, picture: file.path, password: old.seal('wind', `toys.password:${recent}`) },
        { id: expired, tenantId, madeAt: sql`now() - interval '2 days'` },
      ]),
    );
    const removed = await removeExpiredRows(
      system,
      withToys.flatMap(({ retention = [] }) => retention),
      AbortSignal.timeout(20_000),
    );
    expect(removed).toMatchObject({ toys: 1 });
    const columns = withToys.flatMap(({ sealedColumns = [] }) => sealedColumns);
    expect(await rotateSecrets(system, current, columns)).toContainEqual(
      expect.objectContaining({ column: 'toys.password', reEncrypted: 1 }),
    );
    const orphan = await system.files.write('toy-pictures', newId(), 'png', Buffer.from('x'), { maxBytes: 10 });
    for (const { path } of [file, orphan]) await utimes(join(started.config.dataDir, 'files', path), 0, 0);
    await sweepOrphanFiles(
      system,
      withToys.flatMap(({ files = [] }) => files),
      AbortSignal.timeout(20_000),
    );
    const opened = await system.files.open(file.path);
    expect(opened).not.toBeNull();
    opened?.stream.destroy();
    expect(await system.files.open(orphan.path)).toBeNull();
  });
});

const key = (id: string, byte: number) => ({ id, bytes: new Secret(Buffer.alloc(32, byte)) });
