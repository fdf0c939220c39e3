import { expect, it, onTestFinished } from 'vitest';
import { imapGreeting, startScriptedServer, tagOf } from '@portal/testing/servers/scripted-server';
import { testApp } from '../../testing/app.ts';

/*
 * A mail server that somebody names in a trial of a mailbox must neither end the API nor hold up its answers, and those of one tenant
 * must not keep others from trying theirs.
 */

const { make, request } = await testApp();
type Account = Awaited<ReturnType<typeof make.user>>;

/** Signs everybody in and answers EXAMINE with this. */
async function mailServer(examine: string | null) {
  const server = await startScriptedServer(imapGreeting, (line) => {
    const tag = tagOf(line);
    if (/ LOGIN /.test(line)) return `${tag} OK [CAPABILITY IMAP4rev1] in\r\n`;
    if (!/EXAMINE/.test(line)) return `${tag} OK done\r\n`;
    return examine === null ? null : `${examine}${tag} OK [READ-ONLY] done\r\n`;
  });
  onTestFinished(() => server.stop());
  return server;
}

const fine = '* 0 EXISTS\r\n* OK [UIDVALIDITY 7] .\r\n';
const tryAt = ({ host, port }: { host: string; port: number }, as: Account) =>
  request({
    method: 'POST',
    url: '/invoices/mailbox/test',
    as,
    payload: { host, port, security: 'none', username: 'ada', password: 'mailbox-secret' },
  });
const admins = (count: number) => Promise.all(Array.from({ length: count }, () => make.user({ role: 'ADMIN' })));

it('ten servers with a line of 3 MB each end no process and hold up nobody', async () => {
  const [hostile, honest] = [await mailServer(`* ${'x ('.repeat(1_000_000)}\r\n${fine}`), await mailServer(fine)];
  const [last, ...people] = await admins(11);
  let isOver = false;
  const trials = Promise.all(people.map((admin) => tryAt(hostile, admin))).finally(() => (isOver = true));
  let slowest = 0;
  while (!isOver) {
    const askedAt = performance.now();
    expect((await request({ url: '/health' })).statusCode).toBe(200);
    slowest = Math.max(slowest, performance.now() - askedAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const trial of await trials) {
    expect(trial.statusCode).toBe(200);
    expect(trial.json()).toMatchObject({ ok: false, error: 'protocol' });
  }
  // Far below the second that each megabyte took in this process; ten processes share two cores meanwhile.
  expect(slowest).toBeLessThan(500);
  expect((await tryAt(honest, last as Account)).json()).toMatchObject({ ok: true });
});

it('a tenant whose mail servers hang leaves room for the others', async () => {
  const [silent, honest] = [await mailServer(null), await mailServer(fine)];
  const hostile = await make.user({ role: 'ADMIN' });
  const colleague = await make.user({ role: 'ADMIN', tenantId: hostile.tenantId });
  let refused = 0;
  const hanging = [hostile, hostile, hostile, colleague, colleague].map(async (admin) => {
    const answer = await tryAt(silent, admin);
    if (answer.statusCode === 429) refused += 1;
    return answer;
  });
  // Two of one account, three of a tenant.
  await expect.poll(() => refused).toBe(2);
  expect((await tryAt(honest, await make.user({ role: 'ADMIN' }))).json()).toMatchObject({ ok: true });
  await silent.stop();
  await Promise.all(hanging);
});
