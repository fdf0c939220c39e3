import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { testRuntime } from '@portal/testing/runtime';
import { largeAnswersFor } from './large-answers.ts';

const { make, signedIn } = await testRuntime();

async function children(): Promise<string[]> {
  const lists = await Promise.all(
    (await readdir('/proc/self/task')).map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8')),
  );
  return lists.join(' ').split(' ').filter(Boolean);
}

it.runIf(process.platform === 'linux')('does not blame the server for a sandbox that was killed', async () => {
  const large = largeAnswersFor(await signedIn(await make.user()));
  const order = { json: Buffer.from('{"data":[]}'), secrets: [] };
  const before = new Set(await children());
  const answer = large.read(order, 'pve.example').catch((error: unknown) => error);
  const added = async () => (await children()).filter((pid) => !before.has(pid));
  await expect.poll(async () => (await added()).length, { interval: 2 }).toBe(1);
  for (const pid of await added()) process.kill(Number(pid), 'SIGKILL');
  expect(await answer).toMatchObject({
    failure: 'antwortform',
    message: 'The portal was too busy to read a large answer of pve.example. Please try again.',
  });
  expect(await large.read(order, 'pve.example')).toMatchObject({ answer: { data: [] } });
});
