// The limit for bench me: Fastify and one prepared primary-key query, nothing else; with BENCH_PIPELINE sent the way we send ours.
import Fastify from 'fastify';
import { Pool } from 'pg';

const pipeline = process.env['BENCH_PIPELINE'] !== undefined;
const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
  pipeline,
});
// Two connections for everybody, each query right behind the one before.
const shared = pipeline ? await Promise.all([pool.connect(), pool.connect()]) : [pool];
let next = 0;
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/user', async () => {
  const connection = shared[next++ % shared.length] ?? pool;
  const { rows } = await connection.query({
    name: 'user',
    text: 'select * from users where id = $1',
    values: [process.env['BENCH_USER']],
  });
  return rows[0];
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
