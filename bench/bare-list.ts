// The limit for bench list: Fastify and the same statement, prepared, with no policies, no session and no checks.
import Fastify from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
});
const text = process.env['BENCH_STATEMENT'] ?? '';
const values: unknown[] = JSON.parse(process.env['BENCH_VALUES'] ?? '[]');
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/users', async (_request, reply) => {
  const { rows } = await pool.query({ name: 'users', text, values });
  reply.header('x-total-count', rows[0].total);
  // The extra row only shows that there is another page.
  const page = rows.slice(0, -1);
  for (const row of page) row.total = undefined;
  return page;
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
