import { expect, it, onTestFinished } from 'vitest';
import { imapGreeting, startScriptedServer, tagOf } from '@portal/testing/servers/scripted-server';
import { testApp } from '../../testing/app.ts';

/*
 * A hostile mail server in a mailbox test must neither end the API nor delay its answers, and the tests of one tenant must not block those
 * of others.
 */

const { make, request } = await testApp();
type Account = Awaited<ReturnType<typeof make.user>>;

/** Accepts every sign-in and answers EXAMINE with this text, or never for null. */
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

const emptyFolder = '* 0 EXISTS\r\n* OK [UIDVALIDITY 7] .\r\n';
const testAt = ({ host, port }: { host: string; port: number }, as: Account) =>
  request({
    method: 'POST',
    url: '/invoices/mailbox/test',
    as,
    payload: { host, port, security: 'none', username: 'ada', password: 'mailbox-secret' },
  });
const admins = (count: number) => Promise.all(Array.from({ length: count }, () => make.user({ role: 'ADMIN' })));

it('ten servers with a line of 3 MB each neither end the process nor delay other requests', async () => {
  const [hostile, honest] = [
    await mailServer(`* ${'x ('.repeat(1_000_000)}\r\n${emptyFolder}`),
    await mailServer(emptyFolder),
  ];
  const [last, ...people] = await admins(11);
  let isOver = false;
  const tests = Promise.all(people.map((admin) => testAt(hostile, admin))).finally(() => (isOver = true));
  let slowest = 0;
  while (!isOver) {
    const askedAt = performance.now();
    expect((await request({ url: '/health' })).statusCode).toBe(200);
    slowest = Math.max(slowest, performance.now() - askedAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const test of await tests) {
    expect(test.statusCode).toBe(200);
    expect(test.json()).toMatchObject({ ok: false, error: 'protocol' });
  }
  // Parsing in this process would take a second per megabyte; ten sandbox processes share two cores meanwhile.
  expect(slowest).toBeLessThan(500);
  expect((await testAt(honest, last as Account)).json()).toMatchObject({ ok: true });
});

it('a tenant whose mail servers hang does not block other tenants', async () => {
  const [silent, honest] = [await mailServer(null), await mailServer(emptyFolder)];
  const hostile = await make.user({ role: 'ADMIN' });
  const colleague = await make.user({ role: 'ADMIN', tenantId: hostile.tenantId });
  let refused = 0;
  const hanging = [hostile, hostile, hostile, colleague, colleague].map(async (admin) => {
    const answer = await testAt(silent, admin);
    if (answer.statusCode === 429) refused += 1;
    return answer;
  });
  // The limits: two tests per account, three per tenant.
  await expect.poll(() => refused).toBe(2);
  expect((await testAt(honest, await make.user({ role: 'ADMIN' }))).json()).toMatchObject({ ok: true });
  await silent.stop();
  await Promise.all(hanging);
});
