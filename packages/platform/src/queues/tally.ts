import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import type { QueueName } from '../jobs/job.ts';
import type { BullQueue } from './backend.ts';

export type TalliedState = 'waiting' | 'active' | 'failed';

/** How many jobs of one name a queue holds in a state. What a schedule puts there is a wish for a job and not counted. */
export interface Tally {
  queue: QueueName;
  name: string;
  state: TalliedState;
  count: number;
}

/** Of these states BullMQ's are made: a job that waits for its next try is waiting, too. */
const stateOf: Record<string, TalliedState> = {
  wait: 'waiting',
  waiting: 'waiting',
  delayed: 'waiting',
  active: 'active',
  failed: 'failed',
};

/** One look over the table: counting over an index of its own would cost each job more than it saves here. */
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

/** Jobs a script looks at in one go: Redis does nothing else meanwhile. */
const portion = 1_000;
/** Jobs looked at per queue and state; of more, the rest is not told by name. */
const looked = 20_000;

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

/** Names live in a hash for each job, so they are read where they are, and counts alone travel. */
export async function tallyRedis(client: Redis, queues: BullQueue[]): Promise<Tally[]> {
  const tallies = await Promise.all(
    queues.flatMap((queue) =>
      [
        ['wait', 'LRANGE'] as const,
        ['active', 'LRANGE'] as const,
        ['delayed', 'ZRANGE'] as const,
        ['failed', 'ZRANGE'] as const,
      ].map(async ([list, range]) => {
        const tallied: Tally[] = [];
        for (let from = 0; from < looked; from += portion) {
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
