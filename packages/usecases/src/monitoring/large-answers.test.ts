import { expect, it } from 'vitest';
import { childProcesses } from '@portal/testing/child-processes';
import { testRuntime } from '@portal/testing/runtime';
import { largeAnswersFor } from './large-answers.ts';

const { make, signedIn } = await testRuntime();

it.runIf(process.platform === 'linux')('does not blame the server for a sandbox that was killed', async () => {
  const large = largeAnswersFor(await signedIn(await make.user()));
  const order = { json: Buffer.from('{"data":[]}'), secrets: [] };
  const before = new Set(childProcesses());
  const answer = large.read(order, 'pve.example').catch((error: unknown) => error);
  const added = () => childProcesses().filter((pid) => !before.has(pid));
  await expect.poll(() => added().length, { interval: 2 }).toBe(1);
  for (const pid of added()) process.kill(pid, 'SIGKILL');
  expect(await answer).toMatchObject({
    failure: 'antwortform',
    message: 'The portal was too busy to read a large answer of pve.example. Please try again.',
  });
  expect(await large.read(order, 'pve.example')).toMatchObject({ answer: { data: [] } });
});
