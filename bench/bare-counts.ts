// The limit for bench queue-board: Fastify and the counts of all queues as BullMQ gives them, with no names, no jobs and no session.
import Fastify from 'fastify';
import { queueNames } from '@portal/platform/jobs/job';
import { openLog } from '@portal/platform/log';
import { openQueues } from '@portal/platform/queues/queues';

const queues = openQueues({
  redisUrl: process.env['REDIS_URL'] ?? null,
  databaseUrl: process.env['DATABASE_URL'] ?? '',
  log: openLog('silent', 'script'),
  process: 'api',
});
const opened = await Promise.all(queueNames.map((name) => queues.queue(name)));
const app = Fastify();
app.get('/health', () => ({ status: 'ok' }));
app.get('/counts', () => Promise.all(opened.map((queue) => queue.getJobCounts())));
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
