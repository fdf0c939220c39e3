import type { FastifyReply, FastifyRequest } from 'fastify';

/** Longest wait for work that was started, seconds (contract section 1). */
const maxWaitSec = 25;

/**
 * How long the caller prefers to wait for the work it starts (`Prefer: wait=10`, RFC 7240), whole seconds, 25 at most;
 * null without such a wish. Whoever grants it says so with `preferenceApplied`.
 */
export function preferredWait(request: FastifyRequest): number | null {
  const preferences = [request.headers['prefer'] ?? []].flat().join(',').split(',');
  for (const preference of preferences) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference)?.[1];
    // The first one counts (RFC 7240 section 2).
    if (seconds !== undefined) return Math.min(Number(seconds), maxWaitSec);
  }
  return null;
}

export const preferenceApplied = (reply: FastifyReply, seconds: number): FastifyReply =>
  reply.header('preference-applied', `wait=${seconds}`);
