// The limit for bench me: Fastify and one prepared primary-key query, nothing else.
import Fastify from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
});
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/user', async () => {
  const { rows } = await pool.query({
    name: 'user',
    text: 'select * from users where id = $1',
    values: [process.env['BENCH_USER']],
  });
  return rows[0];
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
