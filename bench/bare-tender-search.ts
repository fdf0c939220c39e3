// The limit for bench tender-search: Fastify and the same statements, under a login without row policies.
import Fastify from 'fastify';
import { Pool } from 'pg';

interface Statement {
  text: string;
  values: unknown[];
}
const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
});
const searches: Record<string, { page?: Statement; facets?: Statement }> = JSON.parse(
  process.env['BENCH_SEARCHES'] ?? '{}',
);
const rowsText = process.env['BENCH_ROWS'] ?? '';
const userId = process.env['BENCH_USER'] ?? '';
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/*', async (request, reply) => {
  const { page, facets } = searches[request.url] ?? {};
  if (facets) return (await pool.query(facets)).rows;
  if (!page) throw new Error(`no statement for ${request.url}`);
  const client = await pool.connect();
  try {
    const found = await client.query(page);
    reply.header('x-total-count', found.rows[0]?.total ?? 0);
    const ids = found.rows.slice(0, 25).map(({ id }) => id);
    return (await client.query({ name: 'rows', text: rowsText, values: [userId, ids] })).rows;
  } finally {
    client.release();
  }
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
