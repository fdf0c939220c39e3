import type { Pool } from 'pg';
import type { QueueName } from '../jobs/job.ts';
import type { BullQueue } from './backend.ts';
import type { RedisClient } from './redis-client.ts';

export type TalliedState = 'waiting' | 'active' | 'failed';

/** Number of jobs by queue, name and state. Schedule ticks are not counted. */
export interface Tally {
  queue: QueueName;
  name: string;
  state: TalliedState;
  count: number;
}

/** Maps BullMQ's states: a job that waits for its next attempt counts as waiting. */
const stateOf: Record<string, TalliedState> = {
  wait: 'waiting',
  waiting: 'waiting',
  delayed: 'waiting',
  active: 'active',
  failed: 'failed',
};

/** Scans the table once: an index for this count would cost each job more than it saves here. */
export async function tallyPostgres(pool: Pool): Promise<Tally[]> {
  const { rows } = await pool.query<{ queue: QueueName; name: string; state: string; count: number }>(
    `select queue, name, state, count(*)::int as count from job
      where state in ('waiting', 'delayed', 'active', 'failed') and scheduler_id is null
      group by queue, name, state`,
  );
  return rows.flatMap(({ state, ...row }) => {
    const known = stateOf[state];
    return known ? [{ ...row, state: known }] : [];
  });
}

/** Jobs per script call: a script blocks Redis. */
const portion = 1_000;
/** Maximum jobs counted per queue and state. */
const maxCounted = 20_000;

const countNames = `
  local ids = redis.call(ARGV[1], KEYS[1], ARGV[2], ARGV[3])
  local counts = {}
  for _, id in ipairs(ids) do
    local job = redis.call('HMGET', ARGV[4] .. id, 'name', 'rjk')
    if job[1] and not job[2] then counts[job[1]] = (counts[job[1]] or 0) + 1 end
  end
  local answer = { #ids }
  for name, count in pairs(counts) do
    answer[#answer + 1] = name
    answer[#answer + 1] = count
  end
  return answer`;

/** Each job's name is in its own hash, so a script reads the names inside Redis and returns only the counts. */
export async function tallyRedis(client: RedisClient, queues: BullQueue[]): Promise<Tally[]> {
  const tallies = await Promise.all(
    queues.flatMap((queue) =>
      [
        ['wait', 'LRANGE'] as const,
        ['active', 'LRANGE'] as const,
        ['delayed', 'ZRANGE'] as const,
        ['failed', 'ZRANGE'] as const,
      ].map(async ([list, range]) => {
        const tallied: Tally[] = [];
        for (let from = 0; from < maxCounted; from += portion) {
          const [found, ...counts] = (await client.eval(
            countNames,
            1,
            queue.toKey(list),
            range,
            from,
            from + portion - 1,
            queue.toKey(''),
          )) as [number, ...(string | number)[]];
          for (let at = 0; at < counts.length; at += 2) {
            tallied.push({
              queue: queue.name as QueueName,
              name: String(counts[at]),
              state: stateOf[list] ?? 'waiting',
              count: Number(counts[at + 1]),
            });
          }
          if (found < portion) break;
        }
        return tallied;
      }),
    ),
  );
  return tallies.flat();
}
