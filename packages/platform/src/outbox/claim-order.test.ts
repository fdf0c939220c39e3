import { sql } from 'drizzle-orm';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { p } from '@portal/mail/blocks';
import { Sender } from '@portal/mail/frame';
import { template } from '@portal/mail/template';
import { kinds as ofProduct } from '@portal/testing/mail-kinds';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import { passwordResetMail } from '@portal/usecases/accounts/mails/password-reset';
import type { Enqueue } from '../jobs/job.ts';
import { deliverDueMails } from './deliver-due-mails.ts';
import { defineMail } from './mail.ts';
import { claimMails, dueMails } from './outbox.ts';
import { queueMails } from './queue-mail.ts';

const { url, make, runtime } = await testRuntime();

const of = (name: string, isAwaited: boolean) =>
  defineMail({
    kind: `test/${name}`,
    template: template({
      format: 'text',
      data: Sender,
      wording: { de: { subject: () => name, body: () => [p`Neues.`] } },
    }),
    data: z.object({}),
    isAwaited,
    prepare: async (_ctx, { recipient }) => ({ tenantName: recipient.tenantName }),
  });
const [digest, code] = [of('digest', false), of('code', true)];
const kinds = new Map([...ofProduct, [digest.kind, digest], [code.kind, code]]);

const servers: TestSmtpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function startServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  servers.push(server);
  return server;
}

type User = { id: string; tenantId: string };
const queue = ({ id: userId, tenantId }: User, mail: Parameters<typeof queueMails>[1], count = 1) =>
  runtime.database.inTenant(tenantId).tx((tx) =>
    queueMails(
      tx,
      mail,
      Array.from({ length: count }, () => ({ tenantId, key: newId(), userId, data: {} })),
    ),
  );
const deliver = ({ tenantId }: User, server: TestSmtpServer, turn: { turnMs?: number; enqueue?: Enqueue } = {}) =>
  deliverDueMails(
    {
      ...runtime.tenant(jobOrigin(), tenantId),
      ...(turn.enqueue && { enqueue: turn.enqueue }),
      config: testConfig(url, {
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: `${server.port}`,
        SMTP_SECURITY: 'none',
        SMTP_FROM: 'p@example.org',
      }),
    },
    { kinds, signal: new AbortController().signal, ...(turn.turnMs !== undefined && { turnMs: turn.turnMs }) },
  );
const subjects = ({ messages }: TestSmtpServer) => messages.map(({ subject }) => subject);

it('ends after its turn and is queued behind the other tenants', async () => {
  const user = await make.user();
  const server = await startServer();
  await queue(user, digest, 200);
  const queued: unknown[] = [];
  await deliver(user, server, { turnMs: 0, enqueue: async (job, payload) => void queued.push([job.name, payload]) });
  expect(server.messages.length).toBeLessThan(200);
  expect(queued).toEqual([['mails.deliver', { tenantId: user.tenantId }]]);
  await deliver(user, server);
  expect(server.messages).toHaveLength(200);
});

it('queues any number of mails at once', async () => {
  const user = await make.user();
  await queue(user, digest, 10_000);
  const count = () => runtime.database.inTenant(user.tenantId).tx((tx) => tx.$count(mails));
  expect(await count()).toBe(10_000);
});

it('sends a reset mail before 500 older digests', async () => {
  const server = await startServer();
  const [subscriber, locked] = await (async () => {
    const first = await make.user();
    return [first, await make.user({ tenantId: first.tenantId })] as const;
  })();
  await queue(subscriber, digest, 500);
  await queue(locked, passwordResetMail);
  await deliver(subscriber, server);
  expect(server.messages).toHaveLength(501);
  expect(server.messages[0]?.envelopeTo).toEqual([locked.email]);
});

it('sends a new awaited mail before digests that are not yet claimed', async () => {
  const user = await make.user();
  const server = await startServer({
    onMessage: async () => {
      if (server.messages.length === 100) await queue(user, code);
    },
  });
  await queue(user, digest, 500);
  await deliver(user, server);
  // Mails that are already claimed, and one claim in which digests come first.
  expect(subjects(server).indexOf('code')).toBeLessThan(200);
});

it('sends digests even if any number of awaited mails is due', async () => {
  const user = await make.user();
  const server = await startServer();
  await queue(user, code, 500);
  await queue(user, digest, 20);
  await deliver(user, server);
  expect(server.messages).toHaveLength(520);
  expect(subjects(server).lastIndexOf('digest')).toBeLessThan(400);
});

it('fills a claim of one sort with the other, up to its limit', async () => {
  const user = await make.user();
  await queue(user, digest, 20);
  await queue(user, code, 4);
  const scope = runtime.database.inTenant(user.tenantId);
  const claim = async (limit: number, first: 'awaited' | 'others') => {
    const terms = { kinds, route: 'service' as const, ownServer: null, dailyLimit: null };
    return (await claimMails(scope, limit, terms, first)).claimed.map(({ kind }) => kind.slice('test/'.length));
  };
  expect(await claim(3, 'others')).toEqual(Array(3).fill('digest'));
  expect(await claim(6, 'awaited')).toEqual([...Array(4).fill('code'), 'digest', 'digest']);
  await queue(user, code, 2);
  expect(await claim(16, 'others')).toEqual(['code', ...Array(15).fill('digest')]);
});

it('finds both sorts by their index, in order of due time', async () => {
  const user = await make.user();
  await queue(user, digest, 3_000);
  await runtime.database.inTenant(user.tenantId).tx(async (tx) => {
    await tx.execute(
      sql`update mails set state = 'sent', settled_at = now() where id in (select id from mails limit 1000)`,
    );
    const { preferred, rest, due } = dueMails(tx, 40, { route: 'service', ownServer: null }, 'awaited');
    const statement = tx.with(preferred, rest, due).select().from(due).getSQL();
    const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${statement}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan.match(/Index Scan using mails_due on mails/g)).toHaveLength(2);
    expect(plan).not.toMatch(/Seq Scan on mails|Sort/);
  });
  expect(await runtime.database.inTenant(user.tenantId).read((db) => db.$count(mails))).toBe(3_000);
});
