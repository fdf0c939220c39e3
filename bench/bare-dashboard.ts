import Fastify from 'fastify';
import { Pool } from 'pg';

// The limit for bench dashboard-open: Fastify and two prepared queries a request, on the same rows, and nothing else.
const pool = new Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL_MAX'] ?? 10),
});
const texts: Record<string, string> = {
  account: 'select u.*, t.name as tenant_name from users u join tenants t on t.id = u.tenant_id where u.id = $1',
  tabs: 'select id, name, position from dashboard_tabs where user_id = $1 order by position',
  layout: 'select grid_version, layouts, layout_revision, layout_updated_at from dashboard_tabs where id = $1',
  widgets: 'select id, type, config from dashboard_widgets where tab_id = $1 order by id',
  favorites: 'select * from favorites where widget_id = $1 order by position',
};
const rowsOf = async (name: string, id: string): Promise<unknown[]> => {
  const { rows } = await pool.query({ name, text: texts[name] ?? '', values: [id] });
  return rows;
};
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get<{ Params: { name: string; user: string; id: string } }>('/:name/:user/:id', async ({ params }) => {
  const account = await rowsOf('account', params.user);
  if (account.length === 0) throw new Error('no account');
  return rowsOf(params.name, params.id);
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
