import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { deliverMails, sweepMails } from '@portal/platform/outbox/jobs';
import { startRun } from '@portal/platform/runs/start';
import { testApp } from '../../testing/app.ts';

const { request, make, signedIn } = await testApp();

it('GET /runs/:id shows a run to the user who started it and to administrators of the tenant', async () => {
  const tenantId = (await make.tenant()).id;
  const starter = await make.user({ tenantId });
  const { runId } = await startRun(await signedIn(starter), deliverMails, { tenantId });
  for (const as of [starter, await make.user({ tenantId, role: 'ADMIN' })]) {
    expect((await request({ url: `/runs/${runId}`, as })).json()).toEqual({
      id: runId,
      kind: deliverMails.name,
      state: 'queued',
      startedAt: null,
      finishedAt: null,
      progress: null,
      error: null,
    });
  }
  const colleague = await make.user({ tenantId });
  expect((await request({ url: `/runs/${runId}`, as: colleague })).statusCode).toBe(404);
});

it('GET /runs/:id shows a run of the platform to a SUPER_ADMIN, and 404 to all others', async () => {
  const starter = await make.user({ role: 'SUPER_ADMIN' });
  const { runId } = await startRun(await signedIn(starter), sweepMails, {});
  for (const as of [starter, await make.user({ role: 'SUPER_ADMIN' })]) {
    expect((await request({ url: `/runs/${runId}`, as })).json()).toMatchObject({ id: runId, kind: sweepMails.name });
  }
  const { tenantId } = starter;
  for (const as of [await make.user({ tenantId, role: 'ADMIN' }), await make.user({ tenantId }), await make.user()]) {
    const [answer, never] = await Promise.all([runId, newId()].map((id) => request({ url: `/runs/${id}`, as })));
    expect(answer?.statusCode).toBe(404);
    expect(answer?.body).toBe(never?.body);
  }
});

it('GET /admin/jobs lists every kind of job once', async () => {
  const answer = await request({ url: '/admin/jobs', as: await make.user({ role: 'SUPER_ADMIN' }) });
  const names = answer.json<{ name: string }[]>().map(({ name }) => name);
  expect(names).toContain(deliverMails.name);
  expect(new Set(names).size).toBe(names.length);
  expect(answer.json()).toContainEqual(
    expect.objectContaining({
      queue: deliverMails.queue,
      name: deliverMails.name,
      waiting: expect.any(Number),
      active: 0,
      failed: 0,
    }),
  );
});
