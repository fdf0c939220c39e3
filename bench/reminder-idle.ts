// Looking for due reminders among 5,000,000 when none is due
import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { openDatabase } from '@portal/db/open';
import { builders } from '@portal/testing/make';
import { dueReminders } from '@portal/usecases/reminders/queue-due-mails';
import { benchDatabase, median, percentile, stopAll } from './measure.ts';

const stored = Number(process.argv[2] ?? 5_000_000);
const people = 1_000;
const rounds = 500;

try {
  const { url } = await benchDatabase();
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const { id: tenantId } = await make.tenant();
  for (let n = 0; n < people; n += 1) await make.user({ tenantId });

  // Three in five are ahead, two of these with a mail; one was mailed and is overdue; one is done. Stored by the owner of the
  // tables, past triggers and time limits, in the order of the indexes: this is not what is measured.
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query('set session_replication_role = replica; alter table reminders disable row level security');
  const step = 250_000;
  for (let from = 0; from < stored; from += step) {
    await owner.query(
      `with people as (select array_agg(id order by id) as ids from users)
       insert into reminders (id, tenant_id, user_id, title, due_at, occurrence_id, email_enabled, email_queued_at, done_at)
       select lpad(to_hex(n), 32, '0')::uuid, $1, ids[1 + n::bigint * $2::int / $3::int], 'Reminder ' || n,
         now() + make_interval(mins => 60 + n / 10) - case when n % 5 >= 3 then interval '4000 days' else interval '0' end,
         lpad(to_hex(n), 32, '1')::uuid, n % 5 <> 2, case when n % 5 = 3 then now() end, case when n % 5 = 4 then now() end
       from people, generate_series($4::int, $5::int) n`,
      [tenantId, people, stored, from, Math.min(from + step, stored) - 1],
    );
  }
  await owner.query('alter table reminders enable row level security');
  await owner.query('vacuum analyze reminders');
  await owner.end();
  console.log(`${stored.toLocaleString('en')} reminders are stored`);

  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const found = await database.acrossTenants('the benchmark looks for due reminders', (tx) => dueReminders(tx));
    times.push(performance.now() - startedAt);
    if (found.length > 0) throw new Error('a reminder is due that should not be');
  }
  const plan = await database.acrossTenants('the benchmark asks for the plan', (tx) =>
    tx.execute<{ 'QUERY PLAN': string }>(sql`explain (analyze, costs off) ${dueReminders(tx)}`),
  );
  for (const line of plan.rows) console.log(line['QUERY PLAN']);
  const show = (ms: number) => `${ms.toFixed(2)} ms`;
  console.log(
    `looking for due reminders, transaction included: median ${show(median(times))}, p99 ${show(percentile(times, 0.99))}, first ${show(times[0] ?? 0)} (at most 5 ms)`,
  );
  await database.close();
} finally {
  await stopAll();
}
