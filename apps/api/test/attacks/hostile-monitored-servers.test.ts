import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { watchLoopPauses } from '@portal/testing/loop-pauses';
import { serverForm } from '@portal/testing/monitoring';
import { hugeResources, startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { testApp } from '../../testing/app.ts';

/* An ADMIN whose server answers a test with the largest accepted answers must not block the API for other users. */

const { app, make, request } = await testApp();
const server = await startVirtualizationServer();
afterAll(() => server.switchOff());

it('answers of 8 MiB of small objects do not delay other requests', { timeout: 120_000 }, async () => {
  const admin = await make.user({ role: 'ADMIN' });
  const body = hugeResources();
  server.intercept = (path, _request, response) =>
    path === '/cluster/resources' && Boolean(response.writeHead(200).end(body));
  const { kind, address, authMethod, tokenId, tokenSecret, caCertificatePem } = serverForm(server);
  const payload = { kind, address, authMethod, tokenId, tokenSecret, caCertificatePem };
  const url = '/virtualization/servers/test';
  let isOver = false;
  /** On a busy machine a test may time out, so it is repeated, at most twice. */
  async function test() {
    for (let tries = 1; ; tries += 1) {
      const answer = await request({ method: 'POST', url, as: admin, payload });
      if (tries === 3 || answer.json().failure !== 'netz') return answer;
    }
  }
  const tests = Promise.all(Array.from({ length: 3 }, () => test())).then((answers) => {
    isOver = true;
    return answers;
  });
  const pauses = watchLoopPauses();
  while (!isOver) {
    expect((await app.inject({ url: '/health' })).statusCode).toBe(200);
    // Without a pause this loop would take the processor from the parsing of the answers.
    await setTimeout(20);
  }
  for (const answer of await tests) {
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ ok: false, failure: 'antwortform' });
  }
  expect(pauses.stop()).toBeLessThan(1_000);
});
