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
/** The files of the page as the library ships them. */
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

  it('is only for a SUPER_ADMIN, with its files and their requests', async () => {
    const { request, make, operator } = await board();
    const [user, admin] = [await make.user(), await make.user({ role: 'ADMIN' })];
    for (const path of ['', '/', '/queue/mail', '/static/images/logo.svg', '/api/queues', '/api/redis/stats']) {
      const url = `/admin/queues${path}`;
      expect((await request({ url })).statusCode).toBe(401);
      for (const as of [user, admin]) expect((await request({ url, as })).statusCode).toBe(403);
      expect((await request({ url, as: operator })).statusCode).toBe(200);
    }
  });

  it('is a page that uses only files of this server and no inline scripts', async () => {
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

  it('has no buttons that change anything', async () => {
    const { ask } = await board();
    for (const status of ['latest', 'completed', 'waiting', 'delayed', 'active', 'failed']) {
      const answer = await ask({ url: `/admin/queues/api/queues?activeQueue=mail&status=${status}` });
      const { queues } = answer.json<{ queues: { readOnlyMode: boolean }[] }>();
      expect(queues.filter(({ readOnlyMode }) => !readOnlyMode)).toEqual([]);
    }
  });

  it('shows every queue and its jobs with ids only, and agrees with the list of jobs', async () => {
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

  it('shows why a job failed', async () => {
    const { queueOf, make, url } = await board();
    const failing = handle(deliverMails, async () => {
      throw notFound();
    });
    const worker = startTestWorker(url, { handlers: [failing] }, { env });
    await worker.runtime.queues.push(deliverMails, { tenantId: (await make.tenant()).id });
    await vi.waitFor(async () => expect((await queueOf('mail')).counts['failed']).toBeGreaterThan(0), 20_000);
    await worker.stop();
    const { jobs } = await queueOf('mail', 'failed');
    for (const { failedReason } of jobs) expect(failedReason).toBe(notFound().message);
  });

  it('changes nothing', async () => {
    const { ask, queueOf } = await board();
    const before = await queueOf('mail');
    const [job] = before.jobs;
    for (const [method, path] of [
      ['PUT', 'queues/pause'],
      ['PUT', 'queues/mail/obliterate'],
      ['PUT', 'queues/mail/retry/failed'],
      ['PUT', 'queues/mail/clean/completed'],
      ['PUT', `queues/mail/${job?.id}/promote`],
      ['POST', 'queues/mail/add'],
      ['PATCH', `queues/mail/${job?.id}/update-data`],
      ['DELETE', `queues/mail/${job?.id}`],
    ] as const)
      expect((await ask({ method, url: `/admin/queues/api/${path}`, payload: {} })).statusCode).toBe(405);
    expect(await queueOf('mail')).toEqual(before);
  });

  it('answers odd requests cleanly', async () => {
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

describe.skipIf(!serviceBinary('redis-server'))('unavailable queues', () => {
  it('are reported as unavailable, not as empty', async () => {
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

it('job payloads contain only ids, numbers, times and words of a fixed list', () => {
  const faults = jobsOf(areas).flatMap((job) => {
    const { properties = {} } = z.toJSONSchema(job.payload, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties).flatMap(([name, given]) => {
      const schema = given as z.core.JSONSchema.BaseSchema;
      const isPlain =
        ['uuid', 'date-time'].includes(schema.format ?? '') ||
        ['integer', 'boolean'].includes(String(schema.type)) ||
        schema.enum !== undefined ||
        // A pattern without wildcards cannot contain free text.
        (schema.pattern !== undefined && !/(?<!\\)\.|\\[wSD]|\[\^/.test(schema.pattern)) ||
        schema.const !== undefined;
      return isPlain ? [] : [`${job.name}: ${name}`];
    });
  });
  expect(faults).toEqual([]);
});

/** The app with its queues, and a SUPER_ADMIN for requests. */
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
