import { conflict, invalid, notFound } from '@portal/domain/errors';
import { auditLog } from '@portal/platform/audit';
import type { UserContext } from '@portal/platform/context';
import type { BoardAnswer, BoardRequest } from '@portal/platform/queues/lazy-board';

const { recordAudit } = auditLog('queues.retry', 'queues.clean');

const jobId = '(?<job>[0-9a-f-]{36})';
const queue = String.raw`^/api/queues/(?<queue>[a-z-]+)`;

/** What may be changed at the board. With everything else it offers one could start or stop work behind the product's back. */
const deeds = [
  { action: 'queues.retry', what: 'Retried', path: new RegExp(`${queue}/(?:retry/(?<state>failed)|${jobId}/retry)$`) },
  {
    action: 'queues.clean',
    what: 'Removed',
    path: new RegExp(`${queue}/(?:clean/(?<state>completed|failed)|${jobId}/clean)$`),
  },
] as const;

/**
 * What the board over the queues answers. A change is noted before it is made: the queues are not in the database's transaction.
 * Throws 404 for a change that is not in the list, 503 while the queues cannot be reached.
 */
export async function askQueueBoard(ctx: UserContext, request: BoardRequest): Promise<BoardAnswer> {
  if (request.method !== 'GET') await noteDeed(ctx, request.path);
  const answer = await ctx.askQueueBoard(request);
  if (answer.status === 404) throw notFound();
  if (answer.status === 409) throw conflict('CONFLICT', 'The job is being worked right now.');
  if (answer.status >= 400) throw invalid('VALIDATION_FAILED');
  return answer;
}

async function noteDeed(ctx: UserContext, path: string): Promise<void> {
  const deed = deeds.find((each) => each.path.test(path));
  const { queue: name, state, job } = deed?.path.exec(path)?.groups ?? {};
  if (!deed || name === undefined) throw notFound();
  await ctx.tx((tx) =>
    recordAudit(tx, ctx, {
      action: deed.action,
      tenantId: ctx.tenantId,
      target: { type: 'queue', id: name },
      summary: `${deed.what} ${job === undefined ? `all ${state} jobs` : `job ${job}`} of the queue ${name}`,
    }),
  );
}
