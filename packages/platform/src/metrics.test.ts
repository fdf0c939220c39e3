import { setTimeout as pause } from 'node:timers/promises';
import v8 from 'node:v8';
import { describe, expect, it } from 'vitest';
import { openMetrics } from './metrics.ts';

const depth = { waiting: 2, active: 1, delayed: 0, failed: 3 };
const sources = {
  pool: () => ({ total: 4, idle: 3, waiting: 0, max: 10 }),
  queues: async () => ({ mail: depth }),
  lostNudges: () => 4,
};

describe('metrics', () => {
  it('count requests by route pattern, jobs, mails and sign-ins', async () => {
    const metrics = openMetrics('api', sources);
    metrics.observeRequest('GET', '/users/:id', 200, 0.004);
    metrics.observeRequest('GET', '/users/:id', 200, 0.3);
    metrics.countJob('mails.deliver', 'succeeded', 1.5);
    metrics.countMail('accounts/password-reset', 'sent');
    metrics.countSignIn('failed');
    const { body, contentType } = await metrics.render();
    expect(contentType).toContain('text/plain');
    expect(body).toMatch(/portal_http_request_seconds_count\{.*route="\/users\/:id",status="200"\} 2/);
    expect(body).toMatch(/portal_http_request_seconds_bucket\{le="0.005",.*\} 1/);
    expect(body).toMatch(/portal_job_seconds_sum\{.*job="mails.deliver",outcome="succeeded"\} 1.5/);
    expect(body).toContain('portal_mails_total{kind="accounts/password-reset",outcome="sent",process="api"} 1');
    expect(body).toContain('portal_sign_ins_total{outcome="failed",process="api"} 1');
    expect(body).toContain('portal_queue_jobs{queue="mail",state="failed",process="api"} 3');
    expect(body).toContain('portal_lost_nudges_total{process="api"} 4');
    expect(body).toContain('portal_database_connections{state="busy",process="api"} 1');
    expect(body).toContain('process_resident_memory_bytes{process="api"}');
  });

  it('merge two processes into one valid text, with each name once and separate series', async () => {
    const worker = openMetrics('worker', sources);
    worker.countJob('mails.deliver', 'succeeded', 0.2);
    const travelled = JSON.parse(JSON.stringify(await worker.json())) as unknown[];
    const { body } = await openMetrics('api', sources).render(travelled);
    const headings = body.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(new Set(headings).size).toBe(headings.length);
    expect(body).toContain('process_resident_memory_bytes{process="api"}');
    expect(body).toContain('process_resident_memory_bytes{process="worker"}');
    expect(body).toMatch(/portal_job_seconds_bucket\{le="\+Inf",.*process="worker".*\} 1/);
    const series = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(series.filter((line) => !/^[a-z0-9_]+\{.*\} -?[\d.e+-]+$/.test(line))).toEqual([]);
    expect(new Set(series.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(series.length);
  });

  it('leave out data of another process that is no metric', async () => {
    const { body } = await openMetrics('api', sources).render([
      null,
      { name: 'x' },
      7,
      { name: 'y', help: 'h', type: 'gauge', values: [{ value: null }] },
    ]);
    expect(body).toContain('process="api"');
    expect(body).not.toContain('null');
  });

  it('do not wait for an unreachable queue', async () => {
    const away = { ...sources, queues: () => pause(60_000, {}, { ref: false }) };
    const { body } = await openMetrics('api', away).render();
    expect(body).not.toContain('portal_queue_jobs{');
    expect(body).toContain('portal_database_connections{');
  });

  it('keep nothing of a runtime that has ended', () => {
    class Pool {
      readonly state = sources.pool();
    }
    const openOnce = (pool: Pool) => void openMetrics('api', { ...sources, pool: () => pool.state });
    openOnce(new Pool());
    expect(v8.queryObjects(Pool, { format: 'count' })).toBe(0);
  });
});
