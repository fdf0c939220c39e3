import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import type { RunScope } from '@portal/platform/runs/scope';
import { waitForRun } from '@portal/platform/runs/wait';

/** Longest wait for a run, seconds. */
const maxWaitSec = 25;

/** A run that continues in the background. */
export const StartedRun = z
  .object({ runId: Id })
  .meta({ example: { runId: '0198d3cd-4c5d-7e6f-8a7b-9c0d1e2f3a4b' } })
  .describe('Started; `GET /runs/{id}` shows its progress');
type StartedRun = z.output<typeof StartedRun>;

/** For the description of a route that answers with `answerRun`. */
export const waitsFor = (answered: string): string =>
  `With \`Prefer: wait=N\` (RFC 7240, at most ${maxWaitSec} s) it waits up to that long; if the run finishes in time, it answers ${answered} with status 200.`;

/**
 * Answers a request that started a run: with the result if the caller prefers to wait and the run finishes in that time, otherwise with
 * 202. `scope` is the scope that stores the run.
 */
export async function answerRun<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  { runId }: StartedRun,
  { scope, result }: { scope: RunScope; result: () => Promise<Result> },
): Promise<Result | StartedRun> {
  const seconds = preferredWait(request);
  if (seconds !== null) {
    reply.header('preference-applied', `wait=${seconds}`);
    if (await waitForRun(scope, runId, seconds)) return result();
  }
  reply.status(202);
  return { runId };
}

/** How long the caller prefers to wait for the run (`Prefer: wait=10`, RFC 7240): whole seconds, at most 25; null if not stated. */
export function preferredWait(request: Pick<FastifyRequest, 'headers'>): number | null {
  const preferences = [request.headers['prefer'] ?? []].flat().join(',').split(',');
  for (const preference of preferences) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference)?.[1];
    // The first preference counts (RFC 7240 section 2).
    if (seconds !== undefined) return Math.min(Number(seconds), maxWaitSec);
  }
  return null;
}
