import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { jobsOf } from '@portal/platform/area';
import { handle } from '@portal/platform/jobs/handler';
import { queueNames } from '@portal/platform/jobs/job';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { startRedis } from '@portal/testing/servers/redis';
import { serviceBinary } from '@portal/testing/services';
import { startTestWorker } from '@portal/testing/worker';
import { areas } from '@portal/usecases/areas';
import { testApp, type TestRequest } from '../../testing/app.ts';

const platform = createRequire(import.meta.resolve('@portal/platform/queues/board'));
const fastifyOfBoard = createRequire(platform.resolve('@bull-board/fastify'));
/** The files of the library's page as it ships them. */
const shipped = dirname(dirname(fastifyOfBoard.resolve('@bull-board/ui/dist/static/images/logo.svg')));
const shippedFiles = async () =>
  (await readdir(shipped, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(shipped, join(entry.parentPath, entry.name)));

interface BoardQueue {
  name: string;
  counts: Record<string, number>;
  jobs: { id: string; data: unknown; stacktrace: string[]; failedReason?: string }[];
}

describeOnEachQueue('the queue board', (env) => {
  let opening: ReturnType<typeof open> | undefined;
  const board = () => (opening ??= open(env));

  it('is for SUPER_ADMIN alone, with its files and all they ask', async () => {
    const { request, make, operator } = await board();
    const [user, admin] = [await make.user(), await make.user({ role: 'ADMIN' })];
    for (const [method, url] of [
      ['GET', '/admin/queues'],
      ['GET', '/admin/queues/'],
      ['GET', '/admin/queues/queue/mail'],
      ['GET', '/admin/queues/static/images/logo.svg'],
      ['GET', '/admin/queues/api/queues'],
      ['GET', '/admin/queues/api/redis/stats'],
      ['PUT', '/admin/queues/api/queues/mail/retry/failed'],
    ] as const) {
      expect((await request({ method, url })).statusCode).toBe(401);
      for (const as of [user, admin]) expect((await request({ method, url, as })).statusCode).toBe(403);
      expect((await request({ method, url, as: operator })).statusCode).toBe(200);
    }
  });

  it('is a page of this server’s files alone, without inline scripts', async () => {
    const { ask } = await board();
    const page = await ask({ url: '/admin/queues' });
    expect(page.headers['content-security-policy']).toContain("script-src 'self';");
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.body).toContain('<base href="/admin/queues/"');
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.body).not.toMatch(/<script>/);
    const files = [...page.body.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) expect((await ask({ url: `/admin/queues/${file}` })).statusCode).toBe(200);
    for (const file of await shippedFiles()) {
      const served = await ask({ url: `/admin/queues/static/${file}` });
      expect([file, served.statusCode]).toEqual([file, 200]);
      if (file.endsWith('.css')) expect(served.body).not.toMatch(/url\(["']?(https?:)?\/\//);
    }
    const logo = 'images/logo.svg';
    expect((await ask({ url: `/admin/queues/static/${logo}` })).body).toBe(await readFile(join(shipped, logo), 'utf8'));
  });

  it('has buttons to try failed jobs again and to remove them, and no others that change something', async () => {
    const { ask } = await board();
    const shown = async (query: string) =>
      (await ask({ url: `/admin/queues/api/queues${query}` }))
        .json<{ queues: { name: string; readOnlyMode: boolean }[] }>()
        .queues.filter(({ readOnlyMode }) => !readOnlyMode)
        .map(({ name }) => name);
    expect(await shown('')).toEqual([]);
    for (const status of ['latest', 'completed', 'waiting', 'delayed', 'active'])
      expect(await shown(`?activeQueue=mail&status=${status}`)).toEqual([]);
    expect(await shown('?activeQueue=mail&status=failed')).toContain('mail');
    // The page hides what the library puts between the first and the last button of a failed job, and the menu of a queue.
    const { body } = await ask({ url: '/admin/queues' });
    expect(body).toContain("[class^='jobActions-'] > li:not(:first-child, :last-child)");
    expect(body).toContain("[class^='trailing-'] > button[aria-haspopup]");
    const scripts = (await shippedFiles()).filter((file) => file.endsWith('.js'));
    const all = (await Promise.all(scripts.map((file) => readFile(join(shipped, file), 'utf8')))).join('\n');
    expect(all).toMatch(/\.failed\]:\[\w+\.retry,\w+\.duplicate,\w+\.updateData,\w+\.clean\]/);
    for (const name of ['jobActions-', 'trailing-']) expect(all).toContain(`"${name}`);
  });

  it('shows every queue and its jobs, by ids alone, and agrees with the list of jobs', async () => {
    const { ask, queueOf, make, runtime } = await board();
    const { queues } = (await ask({ url: '/admin/queues/api/queues' })).json<{ queues: BoardQueue[] }>();
    expect(queues.map(({ name }) => name)).toEqual([...queueNames]);
    const tenantIds = [(await make.tenant()).id, (await make.tenant()).id];
    for (const tenantId of tenantIds) await runtime.queues.push(deliverMails, { tenantId });
    const { counts, jobs } = await queueOf('mail');
    expect(counts['waiting']).toBe(2);
    expect(jobs.map(({ data }) => data)).toContainEqual({
      tenantId: tenantIds[0],
      actorId: null,
      requestId: expect.any(String),
      runId: null,
      payload: { tenantId: tenantIds[0] },
    });
    const listed = (await ask({ url: '/admin/jobs' })).json<{ queue: string; waiting: number }[]>();
    const waiting = listed.filter(({ queue }) => queue === 'mail').reduce((sum, job) => sum + job.waiting, 0);
    expect(waiting).toBe(2);
  });

  it('tries failed jobs again and removes them, and the audit log notes who', async () => {
    const { ask, queueOf, make, url, operator } = await board();
    const worker = startTestWorker(
      url,
      {
        handlers: [
          handle(deliverMails, async () => {
            throw notFound();
          }),
        ],
      },
      { env },
    );
    await worker.runtime.queues.push(deliverMails, { tenantId: (await make.tenant()).id });
    await worker.runtime.queues.push(deliverMails, { tenantId: (await make.tenant()).id });
    await vi.waitFor(async () => expect((await queueOf('mail')).counts['failed']).toBe(4), 20_000);
    await worker.stop();
    const { jobs } = await queueOf('mail', 'failed');
    for (const { stacktrace, failedReason } of jobs) {
      expect(stacktrace).toEqual([]);
      expect(failedReason).toBe(notFound().message);
    }
    const [one, another] = jobs;
    const put = async (path: string) => ask({ method: 'PUT', url: `/admin/queues/api/queues/mail/${path}` });
    expect((await put(`${one?.id}/retry`)).statusCode).toBe(204);
    expect((await queueOf('mail')).counts).toMatchObject({ failed: 3, waiting: 1 });
    expect((await put(`${another?.id}/clean`)).statusCode).toBe(204);
    expect((await put(`${another?.id}/clean`)).statusCode).toBe(404);
    expect((await queueOf('mail')).counts).toMatchObject({ failed: 2, waiting: 1 });
    expect((await put('retry/failed')).statusCode).toBe(200);
    expect((await queueOf('mail')).counts).toMatchObject({ failed: 0, waiting: 3 });
    expect((await put('clean/completed')).statusCode).toBe(200);
    const entries = (await ask({ url: `/audit-log?actorId=${operator.id}` })).json<
      { action: string; summary: string; targetId: string }[]
    >();
    expect(entries.filter(({ action }) => action.startsWith('queues.')).slice(0, 5)).toMatchObject([
      { action: 'queues.clean', targetId: 'mail', summary: 'Removed all completed jobs of the queue mail' },
      { action: 'queues.retry', targetId: 'mail', summary: 'Retried all failed jobs of the queue mail' },
      { action: 'queues.clean', summary: `Removed job ${another?.id} of the queue mail` },
      { action: 'queues.clean', summary: `Removed job ${another?.id} of the queue mail` },
      { action: 'queues.retry', summary: `Retried job ${one?.id} of the queue mail` },
    ]);
  });

  it('changes nothing else', async () => {
    const { ask, queueOf } = await board();
    const before = await queueOf('mail');
    const [job] = before.jobs;
    for (const path of [
      'queues/pause',
      'queues/mail/pause',
      'queues/mail/empty',
      'queues/mail/obliterate',
      'queues/mail/promote',
      'queues/mail/concurrency',
      'queues/mail/rate-limit',
      'queues/mail/clean/waiting',
      'queues/mail/clean/active',
      'queues/mail/retry/completed',
      `queues/mail/${job?.id}/promote`,
      'queues/mail/job-schedulers/x/remove',
      'queues/mail/job-schedulers/x/run',
      'queues/mail%2fclean%2ffailed',
    ])
      expect([path, (await ask({ method: 'PUT', url: `/admin/queues/api/${path}` })).statusCode]).toEqual([path, 404]);
    for (const [method, path] of [
      ['POST', 'queues/mail/add'],
      ['PATCH', `queues/mail/${job?.id}/update-data`],
      ['PATCH', `queues/mail/${job?.id}/delay`],
    ] as const)
      expect((await ask({ method, url: `/admin/queues/api/${path}`, payload: {} })).statusCode).toBe(405);
    expect(await queueOf('mail')).toEqual(before);
  });

  it('has a clean answer for whatever it is asked', async () => {
    const { ask } = await board();
    const odd = [
      '0',
      '-1',
      '1e9',
      '99999999999999999999',
      'x',
      '%27',
      '%F0%9F%98%80',
      '..%2f..%2f',
      '__proto__',
      newId(),
    ];
    for (const value of odd) {
      for (const path of [
        `api/queues?activeQueue=mail&status=${value}`,
        `api/queues?activeQueue=mail&status=latest&page=${value}&jobsPerPage=${value}`,
        `api/queues?activeQueue=${value}`,
        `api/job-schedulers?queueName=${value}`,
        `api/queues/${value}/metrics`,
        `api/queues/mail/${value}`,
        `api/queues/mail/${value}/logs`,
        `api/queues/mail/${value}/flow?depth=${value}&maxChildren=${value}`,
        `static/${value}`,
        value,
      ]) {
        const { statusCode, body } = await ask({ url: `/admin/queues/${path}` });
        expect([path, statusCode]).toEqual([path, expect.toBeOneOf([200, 400, 404])]);
        if (statusCode >= 400) expect(JSON.parse(body)).toMatchObject({ statusCode, code: expect.any(String) });
      }
    }
    expect((await ask({ url: '/admin/queues/api/queues?activeQueue=mail&jobsPerPage=100000' })).statusCode).toBe(400);
  });
});

describe.skipIf(!serviceBinary('redis-server'))('queues that are away', () => {
  it('show as away, not as empty', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { ask } = await open({ REDIS_URL: redis.url });
    expect((await ask({ url: '/admin/queues/api/queues' })).statusCode).toBe(200);
    await redis.halt();
    for (const url of ['/admin/queues', '/admin/queues/api/queues', '/admin/jobs']) {
      const answer = await ask({ url });
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('job queue') });
    }
    await redis.resume();
    await vi.waitFor(async () => expect((await ask({ url: '/admin/queues' })).statusCode).toBe(200), 20_000);
  });
});

it('no job’s payload holds more than ids, numbers, times and words of a closed list', () => {
  const faults = jobsOf(areas).flatMap((job) => {
    const { properties = {} } = z.toJSONSchema(job.payload, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties).flatMap(([name, given]) => {
      const schema = given as z.core.JSONSchema.BaseSchema;
      const isPlain =
        ['uuid', 'date-time'].includes(schema.format ?? '') ||
        ['integer', 'boolean'].includes(String(schema.type)) ||
        schema.enum !== undefined ||
        // One that has no place for words of somebody's own.
        (schema.pattern !== undefined && !/(?<!\\)\.|\\[wSD]|\[\^/.test(schema.pattern)) ||
        schema.const !== undefined;
      return isPlain ? [] : [`${job.name}: ${name}`];
    });
  });
  expect(faults).toEqual([]);
});

/** The app with its queues there, and a SUPER_ADMIN to ask it. */
async function open(env: Record<string, string>) {
  const { request, make, url, runtime } = await testApp({ env });
  const operator = await make.user({ role: 'SUPER_ADMIN' });
  const ask = (what: TestRequest) => request({ ...what, as: operator });
  async function queueOf(name: string, status = 'latest'): Promise<BoardQueue> {
    const answer = await ask({ url: `/admin/queues/api/queues?activeQueue=${name}&status=${status}&jobsPerPage=50` });
    const found = answer.json<{ queues: BoardQueue[] }>().queues.find((queue) => queue.name === name);
    if (!found) throw new Error(`The board shows no queue ${name}.`);
    return found;
  }
  return { request, make, url, runtime, operator, ask, queueOf };
}
