// The limit for bench calendar: Fastify, the account and its calendars by prepared queries, and the same bytes from memory.
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
});
const answer = readFileSync(process.env['BENCH_ANSWER'] ?? '');
const values = [process.env['BENCH_USER']];
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/calendar/events', async (_request, reply) => {
  await pool.query({ name: 'account', text: 'select * from users where id = $1', values });
  const text = 'select * from calendar_sources where user_id = $1 and is_active order by id';
  const { rows } = await pool.query({ name: 'sources', text, values });
  if (rows.length === 0) throw new Error('no calendars');
  return reply.type('application/json; charset=utf-8').send(answer);
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
