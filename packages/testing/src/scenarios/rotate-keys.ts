import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { programOf } from '../program.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { type Answer, type Met, startStack, waitUntil } from './stack.ts';

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const bearing = { SESSION_SECRET: key('new', 8), SECRETS_KEYS: key('new', 9) };
type Keys = typeof bearing;

/**
 * Puts new keys behind the old ones and then in front, seals the stored secrets anew and takes the old keys away, as `docs/operating.md`
 * says, while people work: nobody is signed out before the very end, and what is stored can be read at every step.
 */
export async function rotateKeysUnderLoad({
  callers,
  stepMs,
}: {
  callers: number;
  stepMs: number;
}): Promise<{ met: Met; violations: string[] }> {
  const password = newId();
  const post = await startSmtpServer({ auth: { username: 'portal', password } });
  const stack = await startStack();
  try {
    const violations: string[] = [];
    const old = { SESSION_SECRET: stack.env['SESSION_SECRET'] ?? '', SECRETS_KEYS: stack.env['SECRETS_KEYS'] ?? '' };
    const inOrder = (first: Keys, second: Keys): Keys => ({
      SESSION_SECRET: `${first.SESSION_SECRET},${second.SESSION_SECRET}`,
      SECRETS_KEYS: `${first.SECRETS_KEYS},${second.SECRETS_KEYS}`,
    });
    const config = {
      host: '127.0.0.1',
      port: post.port,
      security: 'none',
      username: 'portal',
      fromAddress: 'a@example.org',
    };
    const expectStatus = async (what: string, wanted: number, asking: Promise<Answer>) => {
      const { status, body } = await asking;
      if (status !== wanted) violations.push(`${what}: ${status} ${body}`);
    };
    /** The password is opened by the API, and the server takes no other. */
    const expectReadable = (when: string) => expectStatus(when, 200, stack.ask('/smtp-config/test', config));

    await expectStatus('before', 200, stack.ask('/smtp-config', { ...config, password }, { method: 'PUT' }));
    const calling = await stack.callers(callers);
    const step = async (when: string, settings: Record<string, string>) => {
      await stack.replaceBy(settings);
      await expectReadable(when);
      await pause(stepMs);
    };
    await step('the new keys behind', inOrder(old, bearing));
    await step('the new keys in front', inOrder(bearing, old));
    await rotateSecrets({ ...stack.env, ...inOrder(bearing, old) });
    await step('sealed anew, the old key gone', {
      SESSION_SECRET: inOrder(bearing, old).SESSION_SECRET,
      SECRETS_KEYS: bearing.SECRETS_KEYS,
    });
    await calling.stop();
    for (const [status, count] of Object.entries(calling.met.statuses))
      if (!['200', '201', '204'].includes(status)) violations.push(`${count} answers with ${status}`);

    // The worker opens the password as well; it looks for what is due every ten seconds.
    const people = await stack.makePeople(2, { id: stack.admin.tenantId });
    await stack.remind(people);
    await stack.replaceBy(bearing);
    await expectStatus('a cookie of a key that is gone', 401, stack.ask('/auth/me'));
    const cookie = await stack.cookieOf(
      stack.admin,
      readConfig({ ...stack.env, ...bearing, PORT: '3000' }).sessionKeys,
    );
    await expectStatus('a cookie of the new key', 200, stack.ask('/auth/me', undefined, { cookie }));
    const received = () => post.messages.map(({ envelopeTo }) => envelopeTo[0]);
    if ((await waitUntil(() => people.every(({ email }) => received().includes(email)), 60_000)) === Infinity)
      violations.push('the worker cannot send over the stored mail server');
    return { met: calling.met, violations };
  } finally {
    await stack.close();
    await post.stop();
  }
}

async function rotateSecrets(env: Record<string, string>): Promise<void> {
  const program = programOf('scripts/rotate-secrets.ts', env);
  const child = spawn(program.command, program.args, { env: program.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, [code]] = await Promise.all([textOf(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`the secrets were not all sealed anew: ${said}`);
}
