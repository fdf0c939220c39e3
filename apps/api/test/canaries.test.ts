import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { dumpRedis } from '@portal/testing/servers/redis';
import { testApp } from '../testing/app.ts';
import { addressOf, bodyExample, methodOf, takesJson } from './every-route.ts';

const secretField = /password|secret|token|apikey|credential/i;

/** Replaces every secret in a body, at any depth, by a canary. */
function withCanaries(value: unknown, plant: (field: string) => string, field = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => withCanaries(each, plant, field));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withCanaries(each, plant, name)]));
  return typeof value === 'string' && secretField.test(field) ? plant(field) : value;
}

describeOnEachQueue('a secret in a request', (env) => {
  it('appears in no answer, log, metric, job payload, file or row', async () => {
    const { app, request, make, runtime, ownerUrl, config, logLines, cookieOf } = await testApp({ env });
    const routes = app.routeList.filter(({ method }) => method !== 'HEAD');
    const admin = await make.user({ role: 'ADMIN' });
    const operator = await make.user({ role: 'SUPER_ADMIN' });
    const canaries: string[] = [];
    const plant = () => {
      const canary = `canary-${canaries.length}-Zq7fK2vX`;
      canaries.push(canary);
      return canary;
    };

    const answers: string[] = [];
    let accepted = 0;
    for (const route of routes.filter(takesJson)) {
      const before = canaries.length;
      const payload = withCanaries(bodyExample(route) ?? {}, plant) as object;
      if (canaries.length === before) continue;
      // The second body has an unknown field, the third is invalid JSON.
      for (const body of [payload, { ...payload, 'un-asked': plant() }, `${JSON.stringify(payload)}}`]) {
        const headers = { 'content-type': 'application/json' };
        const call = { method: methodOf(route), url: addressOf(route.url), payload: body, headers };
        for (const answer of await Promise.all([admin, operator].map((as) => request({ ...call, as })))) {
          if (answer.statusCode < 300) accepted += 1;
          answers.push(answer.body);
        }
      }
    }
    expect(canaries.length).toBeGreaterThan(20);
    expect(accepted).toBeGreaterThan(3);
    const cookie = await cookieOf(admin);
    canaries.push(cookie.slice(cookie.indexOf('=') + 1));
    const colleague = await make.user({ tenantId: admin.tenantId });
    // Callers ask side by side, each one call at a time.
    await Promise.all(
      [admin, operator, colleague].map(async (as) => {
        for (const route of routes.filter(({ method }) => method === 'GET')) {
          for (const query of ['', `?q=${canaries[0]}&token=${canaries[1]}`])
            if (query === '' || !route.url.includes(':'))
              answers.push((await request({ method: 'GET', url: addressOf(route.url) + query, as })).body);
        }
      }),
    );
    await app.inject({ url: '/auth/me', headers: { cookie } });

    await runtime.queues.push(deliverMails, { tenantId: admin.tenantId });

    const places: Record<string, string> = {
      answers: answers.join('\n'),
      logs: logLines.map((line) => JSON.stringify(line)).join('\n'),
      metrics: (await app.inject({ url: '/metrics', headers: { host: '127.0.0.1' } })).body,
      rows: await everyRow(ownerUrl),
      files: await everyFile(config.dataDir),
      redis: env['REDIS_URL'] === undefined ? '' : await dumpRedis(env['REDIS_URL']),
    };
    expect(places['rows']).toMatch(/public\.smtp_configs: .*v1:test:/);
    expect(places[env['REDIS_URL'] === undefined ? 'rows' : 'redis']).toContain(deliverMails.name);
    const found = Object.entries(places).flatMap(([place, content]) =>
      canaries
        .filter((canary) => content.includes(canary))
        .map(
          (canary) =>
            `${canary} in ${place}: …${content.slice(Math.max(0, content.indexOf(canary) - 120), content.indexOf(canary) + 40)}`,
        ),
    );
    expect(found).toEqual([]);
  });
});

async function everyRow(ownerUrl: string): Promise<string> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.tables where table_schema in ('public', 'bullmq') and table_type = 'BASE TABLE'`,
    );
    const all: string[] = [];
    for (const { name } of tables) {
      await client.query(name.startsWith('public.') ? 'set role portal_across' : 'reset role');
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      all.push(...rows.map(({ row }) => `${name}: ${row}`));
    }
    return all.join('\n');
  } finally {
    await client.end();
  }
}

async function everyFile(folder: string): Promise<string> {
  const all: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) all.push(entry.name, await readFile(join(entry.parentPath, entry.name), 'latin1'));
  return all.join('\n');
}
