import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { programOf } from '../program.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { type Answer, type CallStats, startStack, waitUntil } from './stack.ts';

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const newKeys = { SESSION_SECRET: key('new', 8), SECRETS_KEYS: key('new', 9) };
type Keys = typeof newKeys;

/**
 * Puts new keys after the old ones and then in front, re-encrypts the stored secrets and removes the old keys, as in `docs/operating.md`,
 * while people work: no session ends before the last step, and stored secrets are readable at every step.
 */
export async function rotateKeysUnderLoad({
  callers,
  stepMs,
}: {
  callers: number;
  stepMs: number;
}): Promise<{ stats: CallStats; violations: string[] }> {
  const password = newId();
  const smtp = await startSmtpServer({ auth: { username: 'portal', password } });
  const stack = await startStack();
  try {
    const violations: string[] = [];
    const oldKeys = {
      SESSION_SECRET: stack.env['SESSION_SECRET'] ?? '',
      SECRETS_KEYS: stack.env['SECRETS_KEYS'] ?? '',
    };
    const inOrder = (first: Keys, second: Keys): Keys => ({
      SESSION_SECRET: `${first.SESSION_SECRET},${second.SESSION_SECRET}`,
      SECRETS_KEYS: `${first.SECRETS_KEYS},${second.SECRETS_KEYS}`,
    });
    const config = {
      host: '127.0.0.1',
      port: smtp.port,
      security: 'none',
      username: 'portal',
      fromAddress: 'a@example.org',
    };
    const expectStatus = async (what: string, expected: number, answer: Promise<Answer>) => {
      const { status, body } = await answer;
      if (status !== expected) violations.push(`${what}: ${status} ${body}`);
    };
    /** The API decrypts the password, and the mail server accepts no other. */
    const expectReadable = (when: string) => expectStatus(when, 200, stack.ask('/smtp-config/test', config));

    await expectStatus('before', 200, stack.ask('/smtp-config', { ...config, password }, { method: 'PUT' }));
    const calling = await stack.callers(callers);
    const step = async (when: string, settings: Record<string, string>) => {
      await stack.replaceBy(settings);
      await expectReadable(when);
      await pause(stepMs);
    };
    await step('the new keys after the old ones', inOrder(oldKeys, newKeys));
    await step('the new keys in front', inOrder(newKeys, oldKeys));
    await rotateSecrets({ ...stack.env, ...inOrder(newKeys, oldKeys) });
    await step('re-encrypted, the old key removed', {
      SESSION_SECRET: inOrder(newKeys, oldKeys).SESSION_SECRET,
      SECRETS_KEYS: newKeys.SECRETS_KEYS,
    });
    await calling.stop();
    for (const [status, count] of Object.entries(calling.stats.statuses))
      if (!['200', '201', '204'].includes(status)) violations.push(`${count} answers with ${status}`);

    // The worker decrypts the password as well; its sweep runs every ten seconds.
    const people = await stack.makePeople(2, { id: stack.admin.tenantId });
    await stack.remind(people);
    await stack.replaceBy(newKeys);
    await expectStatus('a cookie of a removed key', 401, stack.ask('/auth/me'));
    const cookie = await stack.cookieOf(
      stack.admin,
      readConfig({ ...stack.env, ...newKeys, PORT: '3000' }).sessionKeys,
    );
    await expectStatus('a cookie of the new key', 200, stack.ask('/auth/me', undefined, { cookie }));
    const received = () => smtp.messages.map(({ envelopeTo }) => envelopeTo[0]);
    if ((await waitUntil(() => people.every(({ email }) => received().includes(email)), 60_000)) === Infinity)
      violations.push('the worker cannot send over the stored mail server');
    return { stats: calling.stats, violations };
  } finally {
    await stack.close();
    await smtp.stop();
  }
}

async function rotateSecrets(env: Record<string, string>): Promise<void> {
  const program = programOf('scripts/rotate-secrets.ts', env);
  const child = spawn(program.command, program.args, { env: program.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [output, [code]] = await Promise.all([textOf(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`not every secret was re-encrypted: ${output}`);
}
