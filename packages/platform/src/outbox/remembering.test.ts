import { eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { users } from '@portal/db/schema/accounts/users';
import { mails } from '@portal/db/schema/platform/mails';
import { newId } from '@portal/domain/ids';
import { p } from '@portal/mail/blocks';
import { Sender } from '@portal/mail/frame';
import { template } from '@portal/mail/template';
import { testConfig, testRuntime } from '@portal/testing/runtime';
import { type SmtpTrouble, startSmtpServer, type TestSmtpServer } from '@portal/testing/servers/smtp-server';
import { jobOrigin } from '@portal/testing/worker';
import { checkModuleAccess } from '@portal/usecases/modules/module-access';
import { deliverDueMails } from './deliver-due-mails.ts';
import { defineMail } from './mail.ts';
import { claimMails } from './outbox.ts';
import { queueMail } from './queue-mail.ts';

const { url, ownerUrl, make, runtime } = await testRuntime();

let trouble: SmtpTrouble | undefined;
/** Fails after writing its row, before the transaction ends. */
let dies = false;
/** The same for one account only. */
let diesFor: string | null = null;
let smtp: TestSmtpServer;
beforeAll(async () => {
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(
    'create table remembered (user_id uuid, outcome text); grant select, insert on remembered to portal_app',
  );
  await owner.end();
  smtp = await startSmtpServer({ failures: ({ at }) => (at === 'recipient' ? trouble : undefined) });
});
afterAll(() => smtp.stop());

const news = defineMail({
  kind: 'test/news',
  template: template({
    format: 'text',
    data: Sender.extend({ replyTo: z.string() }),
    replyTo: ({ replyTo }) => replyTo,
    wording: { de: { subject: () => 'Neues', body: () => [p`Neues.`] } },
  }),
  data: z.object({ isOver: z.boolean().default(false), replyTo: z.string().default('it@example.org') }),
  isAwaited: false,
  async prepare(ctx, { recipient }, { isOver, replyTo }) {
    await checkModuleAccess({ ...ctx, actor: recipient }, { module: 'tender-radar', level: 'USE' });
    if (replyTo === '') throw new Error('a mistake of ours');
    return isOver ? null : { tenantName: recipient.tenantName, replyTo };
  },
  async remember(tx, attempts) {
    for (const { userId, outcome } of attempts)
      await tx.execute(sql`insert into remembered values (${userId}, ${outcome})`);
    if (dies || attempts.some(({ userId }) => userId === diesFor)) throw new Error('died');
  },
});
const kinds = new Map([[news.kind, news]]);

type User = { id: string; tenantId: string };
const contextOf = ({ tenantId }: User, env: Record<string, string> = {}) => ({
  ...runtime.tenant(jobOrigin(), tenantId),
  config: testConfig(url, {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: `${smtp.port}`,
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'p@example.org',
    ...env,
  }),
});
const deliver = (user: User, env?: Record<string, string>) =>
  deliverDueMails(contextOf(user, env), { kinds, signal: new AbortController().signal });
const queue = ({ id: userId, tenantId }: User, data: z.input<typeof news.data> = {}) =>
  runtime.database.inTenant(tenantId).tx((tx) => queueMail(tx, news, { tenantId, key: newId(), userId, data }));
const reader = (overrides: Partial<typeof users.$inferInsert> = {}) => make.user({ role: 'ADMIN', ...overrides });
const makeDue = ({ tenantId }: User, set: Partial<typeof mails.$inferInsert> = {}) =>
  runtime.database.inTenant(tenantId).tx((tx) => tx.update(mails).set({ ...set, dueAt: sql`now()` }));

const remembered = async ({ id, tenantId }: User) => {
  const { rows } = await runtime.database
    .inTenant(tenantId)
    .tx((tx) => tx.execute<{ outcome: string }>(sql`select outcome from remembered where user_id = ${id}`));
  return rows.map(({ outcome }) => outcome);
};
const outbox = async ({ tenantId }: User) =>
  runtime.database
    .inTenant(tenantId)
    .read((db) => db.select({ state: mails.state, failure: mails.failure }).from(mails).orderBy(mails.id));

it('records a sent mail and each earlier attempt', async () => {
  const user = await reader();
  await queue(user);
  trouble = { code: 451, text: 'Later' };
  await deliver(user);
  trouble = undefined;
  await makeDue(user);
  await deliver(user);
  expect(await remembered(user)).toEqual(['postponed', 'sent']);
});

it('records a mail that the server refused permanently', async () => {
  const user = await reader();
  await queue(user);
  trouble = { code: 550, text: 'Nobody' };
  await deliver(user);
  trouble = undefined;
  expect(await remembered(user)).toEqual(['failed']);
});

it.each<[string, Partial<typeof users.$inferInsert>, z.input<typeof news.data>, { state: string; failure: string }]>([
  ['its recipient is inactive', { isActive: false }, {}, { state: 'skipped', failure: 'recipient_gone' }],
  ['the account has no address', { email: null }, {}, { state: 'skipped', failure: 'recipient_gone' }],
  ['the account may not see it', { role: 'USER' }, {}, { state: 'skipped', failure: 'refused' }],
  ['it is no longer relevant', {}, { isOver: true }, { state: 'skipped', failure: 'outdated' }],
  ['it cannot be rendered', {}, { replyTo: '' }, { state: 'failed', failure: 'content' }],
])('records once a mail that is not sent because %s', async (_, overrides, data, end) => {
  const user = await reader(overrides);
  await queue(user, data);
  const [before, connections] = [smtp.messages.length, smtp.connectionCount()];
  await deliver(user);
  await deliver(user);
  const outcome = end.failure === 'content' ? 'withheld' : 'dropped';
  expect([await outbox(user), await remembered(user)]).toEqual([[end], [outcome]]);
  expect([smtp.messages.length, smtp.connectionCount()]).toEqual([before, connections]);
});

it('records once a mail with an invalid reply address, before any connection', async () => {
  const user = await reader();
  await queue(user, { replyTo: 'it@example.org\r\nBcc: x@example.org' });
  const connections = smtp.connectionCount();
  await deliver(user);
  expect(await outbox(user)).toEqual([{ state: 'failed', failure: 'rejected' }]);
  expect([await remembered(user), smtp.connectionCount()]).toEqual([['failed'], connections]);
});

it('records mails without a server, and mails whose workers kept dying', async () => {
  const user = await reader();
  await queue(user);
  await deliver(user, { SMTP_HOST: '' });
  await queue(user);
  await runtime.database
    .inTenant(user.tenantId)
    .tx((tx) =>
      tx.update(mails).set({ state: 'sending', attempts: 21, interruptions: 20 }).where(eq(mails.state, 'queued')),
    );
  await deliver(user);
  expect(await outbox(user)).toMatchObject([{ state: 'not_configured' }, { state: 'failed', failure: 'interrupted' }]);
  expect(await remembered(user)).toEqual(['withheld', 'withheld']);
});

it('records mails over the daily quota once, even if the worker dies at any point', async () => {
  const user = await reader();
  for (let n = 0; n < 5; n += 1) await queue(user);
  const limit = { MAIL_DAILY_PER_TENANT: '2' };
  // The first worker dies with all mails claimed, the second one after `remember` has written its rows.
  const terms = { kinds, route: 'service' as const, ownServer: null, dailyLimit: 2 };
  const { claimed, overQuota } = await claimMails(runtime.database.inTenant(user.tenantId), 10, terms);
  expect([claimed.length, overQuota.length]).toEqual([2, 3]);
  expect(await remembered(user)).toEqual([]);
  await makeDue(user);
  dies = true;
  await expect(deliver(user, limit)).rejects.toThrow('died');
  dies = false;
  expect(await remembered(user)).toEqual([]);
  await makeDue(user);
  await deliver(user, limit);
  expect((await remembered(user)).toSorted()).toEqual(['sent', 'sent', 'withheld', 'withheld', 'withheld']);
  expect((await outbox(user)).map(({ state }) => state).toSorted()).toEqual([
    'quota',
    'quota',
    'quota',
    'sent',
    'sent',
  ]);
});

it('records a dropped mail once although a worker died before its transaction ended', async () => {
  const user = await reader();
  await queue(user, { isOver: true });
  dies = true;
  await expect(deliver(user)).rejects.toThrow('died');
  dies = false;
  expect([await outbox(user), await remembered(user)]).toEqual([[{ state: 'sending', failure: null }], []]);
  await makeDue(user);
  await deliver(user);
  await deliver(user);
  expect([await outbox(user), await remembered(user)]).toEqual([
    [{ state: 'skipped', failure: 'outdated' }],
    ['dropped'],
  ]);
});

it('rolls back only the one mail that fails, not those sent with it', async () => {
  const first = await reader();
  const others = [];
  for (let n = 0; n < 4; n += 1) others.push(await reader({ tenantId: first.tenantId }));
  for (const user of [first, ...others]) await queue(user);
  diesFor = others[1]?.id ?? '';
  await expect(deliver(first)).rejects.toThrow('died');
  diesFor = null;
  expect(await Promise.all([first, ...others].map(remembered))).toEqual([['sent'], ['sent'], [], ['sent'], ['sent']]);
  expect((await outbox(first)).map(({ state }) => state).toSorted()).toEqual([
    'sending',
    'sent',
    'sent',
    'sent',
    'sent',
  ]);
});
